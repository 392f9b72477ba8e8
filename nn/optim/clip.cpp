#include "nn/optim/clip.h"

#include <cmath>
#include <limits>

#include "engine/array_math.h"
#include "engine/autograd.h"
#include "engine/kernels/sums.h"
#include "nn/optim/optimizer.h"

namespace fledge::inline FLEDGE_BUILD {

namespace {

// Where it lies, if nobody else holds it: of a tiny model new arrays took half of the clipping.
void scale(Array& x, Real factor) {
  if (!x.alone()) x = x.clone();
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
    // A little less than max_norm / norm, so that rounding each product cannot carry the norm over it.
#if defined(FLEDGE_DUAL)
  constexpr double epsilon = std::numeric_limits<double>::epsilon();
#else
  constexpr double epsilon = static_cast<double>(std::numeric_limits<Real>::epsilon());
#endif
  const Real factor = Real(max_norm / norm * (1 - 4 * epsilon));
  for (const Tensor& p : parameters)
    if (p.has_grad()) scale(p.node()->grad, factor);
  return norm;
}

}  // namespace fledge::inline FLEDGE_BUILD
