// Part 4: the gradient check of exactly this model, compiled for Dual.
#include <algorithm>

#include "examples/birds/model_state.h"
#include "nn/gpt/language_model.h"
#include "nn/gradcheck.h"

namespace report {

using fledge::gradcheck, fledge::GradcheckReport, fledge::Indices, fledge::LanguageModel,
    fledge::Real, fledge::Rng, fledge::Shape, fledge::Tensor;

ModelProof check_model(const ModelState& state, std::uint64_t seed) {
  Rng rng(seed);
  const LanguageModel model({.vocabulary = state.vocabulary,
                             .context = state.context,
                             .layers = state.layers,
                             .heads = state.heads,
                             .width = state.width,
                             .hidden = state.hidden},
                            rng);
  const std::vector<Tensor> learned = parameters(model);
  for (std::size_t p = 0; p < learned.size(); ++p)
    std::transform(state.parameters.at(p).begin(), state.parameters[p].end(), learned[p].write(),
                   [](double value) { return Real(value); });

  const Shape shape{state.batch, state.time};
  const Indices ids(shape, state.ids), targets(shape, state.targets);
  const GradcheckReport found =
      gradcheck(model, [&] { return cross_entropy(model(ids), targets, -1); }, {.seed = seed});
  const std::string text = to_string(found);
  return {{found.elements, found.max_error_differences, found.ok && found.undecided == 0, text},
          {found.elements, found.max_error_dual, found.ok, text}};
}

}  // namespace report
