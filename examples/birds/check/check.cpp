// Part 4: the gradient check of exactly this model, compiled for Dual.
#include <algorithm>

#include "examples/birds/model_state.h"
#include "nn/gpt/language_model.h"
#include "nn/gradcheck.h"

namespace report {

using fledge::gradcheck, fledge::GradcheckReport, fledge::LanguageModel, fledge::Real, fledge::Rng,
    fledge::Tensor;

ModelProof check_model(const ModelState& state, std::uint64_t seed) {
  Rng rng(seed);
  const LanguageModel model(
      {state.vocabulary, state.context, state.layers, state.heads, state.width, state.hidden}, rng);
  const std::vector<Tensor> learned = parameters(model);
  for (std::size_t p = 0; p < learned.size(); ++p)
    std::transform(state.parameters.at(p).begin(), state.parameters[p].end(), learned[p].write(),
                   [](double value) { return Real(value); });

  const auto loss = [&] { return cross_entropy(model(state.ids), state.targets, -1); };
  const GradcheckReport found = gradcheck(model, loss, {.seed = seed});
  const std::string text = to_string(found);
  return {{found.elements, found.max_error_differences, found.ok && found.undecided == 0, text},
          {found.elements, found.max_error_dual, found.ok, text}};
}

}  // namespace report
