#include "examples/page/engine/view.h"

#include <algorithm>
#include <cmath>

#include "nn/text/batches.h"

namespace fledge {

namespace {

/// (1, T, C) -> (1, H, T, D)
Tensor split_heads(const Tensor& x, Dim heads) {
  return transpose(reshape(x, {1, x.dim(1), heads, x.dim(2) / heads}), 1, 2);
}

/// The mask of the model, without the hidden positions.
Mask mask_of(const LanguageModel& model, const std::vector<Dim>& hidden, Dim T) {
  if (hidden.empty()) return model.mask();
  std::vector<bool> visible(static_cast<std::size_t>(T * T), true);
  for (Dim query = 0; query < T; ++query)
    for (const Dim key : hidden)
      if (key != query) visible[static_cast<std::size_t>(query * T + key)] = false;
  return model.mask() & custom(T, T, std::move(visible));
}

View::Layer look(const Block& block, const Tensor& x, const Mask& mask, Dim index,
                 const Changes& changes) {
  const Attention& attn = block.attn;
  const Dim H = attn.heads.queries, T = x.dim(1);
  const Shape square{1, H, T, T};
  const Tensor all = attn.qkv(block.ln_1(x));
  const std::vector<Tensor> qkv = attn.q_k_v(all);
  View::Layer l;
  l.input = x;
  l.q = split_heads(qkv[0], H);
  l.k = split_heads(keys_of_heads(qkv[1], attn.heads), H);
  l.v = split_heads(keys_of_heads(qkv[2], attn.heads), H);
  l.scores = attention_scores(l.q, l.k, mask) * (1 / std::sqrt(static_cast<double>(l.q.dim(-1))));

  if (!changes.nudges.empty()) {
    Array nudge = Array::zeros(square);
    for (const auto& [at, query, key, by] : changes.nudges)
      if (at.layer == index) nudge.write()[(at.head * T + query) * T + key] += Real(by);
    l.scores = l.scores + Tensor(nudge);
  }
  l.weights =
      attn.sink.exists() ? softmax_with_sink(l.scores, mask, attn.sink) : softmax(l.scores, mask);

  if (!changes.rows.empty()) {
    Array chosen = Array::zeros(square), rows = Array::zeros(square);
    for (const auto& [at, query, weights] : changes.rows)
      if (at.layer == index) {
        const Dim first = (at.head * T + query) * T;
        std::fill_n(chosen.write() + first, T, Real(1));
        std::transform(weights.begin(), weights.end(), rows.write() + first,
                       [](double weight) { return Real(weight); });
      }
    l.weights = where(chosen, Tensor(rows), l.weights);
  }

  l.mixed = weighted_sum(l.weights, l.v, mask);
  for (const HeadOfLayer& at : changes.off)
    if (at.layer == index) {
      Array on = Array::ones({1, H, 1, 1});
      on.write()[at.head] = Real(0);
      l.mixed = l.mixed * Tensor(on);
    }
  const Tensor passed = block.attn.passed(reshape(transpose(l.mixed, 1, 2), x.shape()), all);
  l.mixed = split_heads(passed, H);
  const Tensor attended = block.attn.c_proj(passed);
  l.between = block.residual == Residual::none ? attended : x + attended;
  l.output = block.add_residuals(x, attended);
  return l;
}

std::vector<float> row_of(const Array& x, Dim row) {
  const Dim n = x.dim(x.rank() - 1);
  return {x.data() + row * n, x.data() + (row + 1) * n};
}

}  // namespace

View look(const LanguageModel& model, const std::vector<Dim>& sentence, const Changes& changes) {
  const auto T = static_cast<Dim>(sentence.size());
  const Mask mask = mask_of(model, changes.hidden, T);
  View view;
  Tensor x = model.embed(Indices({1, T}, sentence));
  for (const Block& block : model.h) {
    view.layers.push_back(look(block, x, mask, static_cast<Dim>(view.layers.size()), changes));
    x = view.layers.back().output;
  }
  view.output = x;
  return view;
}

Tensor sentence_loss(const LanguageModel& model, const View& view, const std::vector<Dim>& sentence,
                     Dim next) {
  const auto T = static_cast<Dim>(sentence.size());
  std::vector<Dim> targets(sentence.begin() + 1, sentence.end());
  targets.push_back(next < 0 ? no_target : next);
  return cross_entropy(model.logits(view.output), Indices({1, T}, targets), no_target);
}

Json cell_json(const LanguageModel& model, const View& view, Dim layer, Dim head, Dim query,
               Dim key) {
  const LanguageModelSizes& sizes = model.sizes;
  const Dim T = view.output.dim(1), D = sizes.width / sizes.heads;
  require<ValueError>(layer < sizes.layers && head < sizes.heads && query < T && key < T, "cell",
                      "needs a layer, head, query and key that exist");
  const View::Layer& l = view.layers[static_cast<std::size_t>(layer)];
  const Dim of_query = head * T + query, of_key = head * T + key;
  const bool is_scaled = sizes.recipe.scale == Scale::root;
  const double root = std::sqrt(static_cast<double>(D));
  std::vector<float> q = row_of(l.q.value(), of_query);
  const std::vector<float> k = row_of(l.k.value(), of_key), v = row_of(l.v.value(), of_key),
                           scores = row_of(l.scores.value(), of_query),
                           weights = row_of(l.weights.value(), of_query);
  std::vector<double> products, part;
  double dot = 0;
  for (std::size_t d = 0; d < q.size(); ++d) {
    // Without the scale, the query holds a factor √D (Attention::qkv).
    if (!is_scaled) q[d] = static_cast<float>(q[d] / root);
    products.push_back(static_cast<double>(q[d]) * k[d]);
    dot += products.back();
    part.push_back(static_cast<double>(weights[static_cast<std::size_t>(key)]) * v[d]);
  }
  return Json::object({{"q", q},
                       {"k", k},
                       {"products", products},
                       {"dot", dot},
                       {"divisor", is_scaled ? root : 1.0},
                       {"score", scores[static_cast<std::size_t>(key)]},
                       {"scores", scores},
                       {"weights", weights},
                       {"v", v},
                       {"part", part},
                       {"output", row_of(l.mixed.value(), of_query)}});
}

}  // namespace fledge
