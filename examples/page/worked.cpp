#include "examples/page/worked.h"

#include <cmath>

#include "engine/autograd.h"
#include "examples/page/base64.h"
#include "nn/text/batches.h"

namespace fledge::page {

namespace {

std::string floats(const Array& x) { return base64(to_vector(x)); }

/// (1, T, C) -> (1, H, T, D)
Tensor split_heads(const Tensor& x, Dim heads) {
  return transpose(reshape(x, {1, x.dim(1), heads, x.dim(2) / heads}), 1, 2);
}

/// The weights from the last block on: "ln_1.weight", …, "ln_f.weight", "wte.weight".
std::vector<std::pair<std::string, Tensor>> weights_of_worked(const LanguageModel& model) {
  const std::string last = "h." + std::to_string(model.sizes.layers - 1) + ".";
  std::vector<std::pair<std::string, Tensor>> found;
  for_each_name(model, [&](const std::string& name, const Tensor& weight) {
    const bool is_last = name.starts_with(last);
    if (is_last || name.starts_with("ln_f.") || name == "wte.weight")
      found.emplace_back(is_last ? name.substr(last.size()) : name, weight);
  });
  return found;
}

/// The input of the last block, (1, T, C).
Tensor input_of_last(const LanguageModel& model, const Plan::Sentence& sentence) {
  const auto T = static_cast<Dim>(sentence.ids.size());
  Tensor x = embedding(model.wte.weight, model.wpe.weight, Indices({1, T}, sentence.ids));
  for (std::size_t layer = 0; layer + 1 < model.h.size(); ++layer)
    x = model.h[layer](x, model.mask());
  return x;
}

}  // namespace

// A forward pass whose last attention is written out, so that the gradients of its scores and of its
// sums are kept.
Json gradients_json(const LanguageModel& model, const Plan::Sentence& sentence) {
  const auto T = static_cast<Dim>(sentence.ids.size());
  if (T == 1 && !sentence.next) return nullptr;  // nothing is predicted
  const Mask mask = model.mask();
  const Dim heads = model.sizes.heads;
  const Tensor x = input_of_last(model, sentence);
  const Block& last = model.h.back();
  const std::vector<Tensor> qkv = split(last.attn.qkv(last.ln_1(x)), 3, -1);
  const Tensor q = split_heads(qkv[0], heads), k = split_heads(qkv[1], heads),
               v = split_heads(qkv[2], heads);
  const double root = std::sqrt(static_cast<double>(q.dim(-1)));
  const Tensor scores = attention_scores(q, k, mask) / root;
  const Tensor mixed =
      reshape(transpose(weighted_sum(softmax(scores, mask), v, mask), 1, 2), x.shape());
  scores.keep_grad();
  mixed.keep_grad();
  const Tensor logits = model.logits(last.add_residuals(x, last.attn.c_proj(mixed)));
  const Tensor loss = cross_entropy(logits, Indices({1, T}, targets_of(sentence)), no_target);
  backward(loss);
  zero_grad(model);
  return Json::object({{"loss", loss.item()},
                       {"d_mixed", floats(mixed.grad())},
                       {"d_scores", floats(scores.grad())}});
}

Dim numbers_of_worked(const LanguageModel& model) {
  Dim numbers = 0;
  for (const auto& [name, weight] : weights_of_worked(model)) numbers += weight.size();
  return numbers;
}

Json worked_json(const LanguageModel& model, const Plan& plan, std::int64_t step,
                 bool has_weights) {
  const NoGrad no_grad;
  const auto used = weights_of_worked(model);
  Json::Members weights;
  if (has_weights)
    for (const auto& [name, weight] : used) weights.emplace_back(name, floats(weight.value()));
  std::vector<std::string> inputs;
  for (const Plan::Sentence& sentence : plan.sentences)
    inputs.push_back(floats(input_of_last(model, sentence).value()));
  return Json::object({{"step", step},
                       {"weights", has_weights ? Json::object(weights) : Json()},
                       {"inputs", inputs}});
}

}  // namespace fledge::page
