// Clipping by global norm (Pascanu, Mikolov & Bengio 2013).
#pragma once

#include <vector>

#include "engine/tensor.h"

namespace fledge {

/// Scales all gradients together so that ‖g‖₂ ≤ max_norm, and returns ‖g‖₂ as it was; gradients
/// within the norm keep their bits. Squares and small factors are taken in double: gradients of
/// 1e30 in float are clipped to 1e-10.
/// Throws ValueError unless max_norm > 0, for a constant among the parameters and for one parameter
/// twice; NumericError when the norm is not finite.
double clip_gradients(const std::vector<Tensor>& parameters, double max_norm);

}  // namespace fledge
