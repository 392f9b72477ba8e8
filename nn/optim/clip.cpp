#include "nn/optim/clip.h"

#include <cmath>
#include <limits>

#include "engine/array_math.h"
#include "engine/autograd.h"
#include "engine/kernels/sums.h"
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

// Scales in place if no other Array shares the numbers. For a tiny model, new arrays would take
// half of the time of clipping.
void scale(Array& x, Real factor) {
  if (!x.is_unique()) x = x.clone();
  Real* const numbers = x.write();
  detail::transform(
      x.size(), [factor](Real v) { return v * factor; }, numbers, numbers);
}

}  // namespace

double clip_gradients(const std::vector<Tensor>& parameters, double max_norm) {
  require<ValueError>(max_norm > 0, "clip_gradients", "max_norm must be positive: got ", max_norm);
  require_parameters("clip_gradients", parameters);
  double squares = 0;
  for (const Tensor& p : parameters) {
    if (!p.has_grad()) continue;
    squares += kernels::sum_of_squares(p.grad().data(), p.size());
  }
  if (!std::isfinite(squares)) require_finite_gradients("clip_gradients", parameters);
  const double norm = std::sqrt(squares);
  require<NumericError>(std::isfinite(norm), "clip_gradients", "the norm of the gradients is ",
                        norm);
  if (norm <= max_norm) return norm;
  // A little less than max_norm / norm, so that rounding each product cannot carry the norm over
  // it.
  const double factor = max_norm / norm * (1 - 4 * Limits::epsilon());
  const bool tiny = factor < Limits::min() || max_norm < Limits::min() / Limits::epsilon();
  const double root = std::sqrt(max_norm) / std::sqrt(norm) * (1 - 4 * Limits::epsilon());
  for (const Tensor& p : parameters) {
    if (!p.has_grad()) continue;
    if (tiny)
      p.set_grad(map(p.grad(), [root](Real g) { return scaled_twice(g, root); }));
    else
      scale(p.node()->grad, Real(factor));
  }
  return norm;
}

}  // namespace fledge
