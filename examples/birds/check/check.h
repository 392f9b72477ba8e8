// Part 4: the gradient check of exactly this model, compiled for Dual.
#pragma once

#include "engine/real.h"
#include "examples/birds/model_state.h"

namespace fledge::birds {

/// The gradient of the loss with respect to every parameter of this model on this batch, by both
/// oracles. Differences must decide every element.
report::ModelProof check_model(const report::ModelState& state, std::uint64_t seed);

}  // namespace fledge::birds
