// Dropout: random numbers become 0, and the others are scaled so that the expected value stays.
#include <cmath>

#include "engine/array_math.h"
#include "engine/autograd.h"
#include "engine/ops.h"

namespace fledge {

/// y = where(kept, x / (1 − p), 0)     dx = where(kept, dy / (1 − p), 0)   the same draw both ways
Tensor dropout(const Tensor& x, double p, Rng& rng) {
  require<ValueError>(p >= 0 && p < 1, "dropout", "the probability must be in [0, 1): got ", p);
  const Array X = x.value();
  if (p == 0) return x;
  Array kept(X.shape());
  Real* scale = kept.write();
  const auto stretch = Real(1 / (1 - p));
  const auto most = static_cast<std::uint64_t>(std::ceil(std::ldexp(p, 53)));
  for (Dim i = 0; i < kept.size(); ++i)  // rng.uniform() < p, in whole numbers
    scale[i] = (rng.bits() >> 11) < most ? Real(0) : stretch;
  // What is chosen is multiplied: a product in a branch that random numbers take is slow.
  const auto scaled = [](Real value, Real factor) {
    return (factor == Real(0) ? factor : value) * factor;
  };
  return record("dropout", zip("dropout", X, kept, scaled), wrt(x, [kept, scaled](const Array& dy) {
                  return zip("dropout", dy, kept, scaled);
                }));
}

}  // namespace fledge
