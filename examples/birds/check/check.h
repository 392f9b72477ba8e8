// Part 4: the gradient check of exactly this model, compiled for double and for Dual.
#pragma once

#include "engine/real.h"
#include "examples/birds/model_state.h"

namespace fledge::birds {

/// The gradient of the loss with respect to every parameter of this model on this batch, against
/// the oracle of the build.
report::ModelCheck check_model(const report::ModelState& state, std::uint64_t seed);

}  // namespace fledge::birds
