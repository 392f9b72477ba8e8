#include "nn/optim/clip.h"

#include <cmath>
#include <limits>

#include "engine/autograd.h"
#include "engine/base/interrupt.h"
#include "engine/kernels/simd.h"
#include "nn/optim/optimizer.h"

namespace fledge {

namespace {

#if defined(FLEDGE_DUAL)
using Limits = std::numeric_limits<double>;
#else
using Limits = std::numeric_limits<Real>;
#endif

// g·root·root, for a root² below Limits::min(), where numbers have fewer digits. A result in that
// range may have been rounded up, so it is made one unit smaller.
Real scaled_twice(Real g, double root) {
#if defined(FLEDGE_DUAL)
  const Dual y = g * root * root;
#else
  const Real y = static_cast<Real>(static_cast<double>(g) * root * root);
#endif
  const double value = value_of(y);
  if (value == 0 || std::abs(value) >= Limits::min()) return y;
  return y - static_cast<Real>(std::copysign(Limits::denorm_min(), value));
}

}  // namespace

double clip_gradients(const std::vector<Tensor>& parameters, double max_norm) {
  require<ValueError>(max_norm > 0, "clip_gradients", "max_norm must be positive: got ", max_norm);
  require_parameters("clip_gradients", parameters);
  const GradientParts gradients(parameters);
  const double squares = gradients.sum_of_squares();
  if (!std::isfinite(squares))
    require_finite("clip_gradients", parameters, gradients, Finite::gradients);
  const double norm = std::sqrt(squares);
  require<NumericError>(std::isfinite(norm), "clip_gradients", "the norm of the gradients is ",
                        norm);
  if (norm <= max_norm) return norm;
  // A little less than max_norm / norm, so that rounding each product cannot carry the norm over
  // it.
  const double factor = max_norm / norm * (1 - 4 * Limits::epsilon());
  const bool tiny = factor < Limits::min() || max_norm < Limits::min() / Limits::epsilon();
  const double root = std::sqrt(max_norm) / std::sqrt(norm) * (1 - 4 * Limits::epsilon());
  // The gradients are scaled in place if no other Array shares their numbers. For a tiny model, new
  // arrays would take half of the time of clipping.
  PoolVector<Real*> numbers(parameters.size());
  for (std::size_t p = 0; p < parameters.size(); ++p) {
    if (!parameters[p].has_grad()) continue;
    Array& gradient = parameters[p].node()->grad;
    if (!gradient.is_unique()) gradient = gradient.clone();
    numbers[p] = gradient.write();
  }
  const InterruptScope no_interrupt(nullptr);  // from here on all gradients are scaled
  gradients.each(1, [&](const GradientParts::Part& part) {
    Real* const g = numbers[part.parameter] + part.begin;
    if (tiny) {
      for (Dim i = 0; i < part.count; ++i) g[i] = scaled_twice(g[i], root);
      return;
    }
    const Real by = Real(factor);
    kernels::by_vectors(part.count, [=](Dim i, Dim count) {
      kernels::store(g + i, kernels::load(g + i, count) * by, count);
    });
  });
  return norm;
}

}  // namespace fledge
