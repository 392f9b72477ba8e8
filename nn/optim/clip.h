// Gradient clipping by global norm (Pascanu, Mikolov & Bengio 2013).
#pragma once

#include <vector>

#include "engine/tensor.h"

namespace fledge {

/// Scales all gradients by the same factor so that ‖g‖₂ ≤ max_norm. Returns ‖g‖₂ before scaling. If
/// it is already ≤ max_norm, the gradients keep their bits. Squares and small factors are computed
/// in double, so even float gradients of 1e30 can be clipped to 1e-10. Throws ValueError unless
/// max_norm > 0, for a tensor that is no parameter and for a parameter that is listed twice;
/// NumericError if the norm is not finite.
double clip_gradients(const std::vector<Tensor>& parameters, double max_norm);

}  // namespace fledge
