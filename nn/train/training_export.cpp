#include "nn/train/training_export.h"

#include "engine/autograd.h"
#include "nn/io/json.h"
#include "nn/io/safetensors.h"
#include "nn/optim/optimizer.h"

namespace fledge {

namespace {

template <class Number>
Array whole_numbers(const std::string& name, const std::vector<Number>& numbers) {
  constexpr auto limit = Number{1} << 24;
  Array array({static_cast<Dim>(numbers.size())});
  Real* to = array.write();
  for (const Number number : numbers) {
    require<ValueError>(number < limit, "training_bytes", name, " must be below ", limit,
                        ", because they are saved as F32: got ", number);
    *to++ = static_cast<Real>(number);
  }
  return array;
}

void append_text(std::vector<NamedArray>& arrays, const std::string& prefix,
                 const TokenText& text) {
  arrays.push_back({prefix + "tokens", whole_numbers("tokens", text.tokens)});
  if (text.starts.empty()) return;
  std::vector<std::size_t> lengths;
  for (std::size_t i = 1; i < text.starts.size(); ++i)
    lengths.push_back(text.starts[i] - text.starts[i - 1]);
  arrays.push_back({prefix + "lengths", whole_numbers("lengths of documents", lengths)});
}

std::vector<std::vector<Dim>> rows_of(const Indices& table) {
  std::vector<std::vector<Dim>> rows;
  for (Dim i = 0; i < table.size(); ++i) {
    if (i % table.shape()[1] == 0) rows.emplace_back();
    rows.back().push_back(table[i]);
  }
  return rows;
}

// Weights and their names, a number each: {"wte.weight": 0.5, …}.
template <class F>
Json by_name(const std::vector<NamedTensor>& named, F number) {
  Json::Members members;
  for (std::size_t p = 0; p < named.size(); ++p) members.emplace_back(named[p].name, number(p));
  return Json::object(members);
}

Json check_of(const Trainer& trainer, const std::vector<NamedTensor>& named) {
  const Batch batch = trainer.next_batch();
  zero_grad(trainer.model());
  const Tensor loss =
      cross_entropy(trainer.model()(batch.inputs, Mode::evaluation()), batch.targets, no_target);
  const double value = loss.item();
  backward(loss);
  const Json norms = by_name(
      named, [&](std::size_t p) { return Json(clip_gradients({named[p].tensor}, infinity)); });
  zero_grad(trainer.model());
  return Json::object({{"inputs", rows_of(batch.inputs)},
                       {"targets", rows_of(batch.targets)},
                       {"loss", value},
                       {"gradient_norms", norms}});
}

}  // namespace

std::string training_bytes(const Trainer& trainer, const TokenText& valid,
                           std::map<std::string, std::string> metadata) {
  const LanguageModelSizes& sizes = trainer.model().sizes;
  const Recipe& recipe = sizes.recipe;
  require<ValueError>(
      sizes.family() != Family::none && words_of_none(recipe).empty() &&
          words_of_none(recipe.learned).empty() && !recipe.tie_qk,
      "training_bytes",
      "the model must be a whole GPT-2, Llama or Starcoder2 whose weights all learn: got one with "
      "--without or --freeze, or with parts that these do not have; train another model "
      "without these options");
  const auto named = named_parameters(trainer.model());
  const Trainer::State state = trainer.state();
  std::vector<NamedArray> arrays;
  for (std::size_t p = 0; p < named.size(); ++p) {
    const auto& [name, tensor] = named[p];
    arrays.push_back({name, tensor.value()});
    if (!state.average.empty()) arrays.push_back({"average." + name, state.average[p]});
    Moments moments = state.moments[p];
    moments.each([&, &own = name](const std::string& prefix, const Array& array) {
      arrays.push_back({prefix + own, array});
    });
  }
  append_text(arrays, "", trainer.text());
  if (valid.size() > 1) append_text(arrays, "valid.", valid);
  const TrainerOptions& options = trainer.options();
  const Json gradients = by_name(named, [&](std::size_t p) { return Json(state.moments[p].t); });
  const Json training = Json::object({{"step", state.done},
                                      {"steps", options.schedule.steps},
                                      {"rate", options.schedule.rate},
                                      {"final_ratio", options.schedule.final_ratio},
                                      {"warmup", options.schedule.warmup},
                                      {"batch", options.batch},
                                      {"context", sizes.context},
                                      {"clip", options.clip},
                                      {"decay", options.decay},
                                      {"beta1", options.beta1},
                                      {"beta2", options.beta2},
                                      {"eps", AdamWOptions().eps},
                                      {"muon", options.optimizer == Optimizer::muon},
                                      {"muon_times", AdamWOptions().times},
                                      {"momentum", AdamWOptions().momentum},
                                      {"average", options.average},
                                      {"seed", options.seed},
                                      {"gradients", gradients}});
  metadata["training"] = training.text();
  metadata["check"] = check_of(trainer, named).text();
  return stored_bytes(std::move(arrays), metadata);
}

}  // namespace fledge
