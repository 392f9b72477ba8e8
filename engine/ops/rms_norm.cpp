// RMS norm over the last axis (Zhang & Sennrich 2019).
#include <array>
#include <utility>

#include "engine/autograd.h"
#include "engine/base/errors.h"
#include "engine/kernels/layer_norm.h"
#include "engine/ops.h"

namespace fledge {

/// x̂ = x·r,  r = 1/√(mean(x²) + eps)                     y = gain ⊙ x̂
///
///   with g = dy ⊙ gain:     dx = r·(g − x̂·mean(g ⊙ x̂))
///   dgain = Σ_rows dy ⊙ x̂
Tensor rms_norm(const Tensor& x, const Tensor& gain, double eps) {
  require(x.rank() >= 1 && x.dim(-1) > 0, "rms_norm", "needs a last axis to normalise: got shape ",
          x.shape());
  const Shape features{x.dim(-1)};
  require(gain.shape() == features, "rms_norm", "gain must have shape ", features, ": got ",
          gain.shape(), " for x ", x.shape());
  require<ValueError>(eps >= 0, "rms_norm", "eps must not be negative: got ", eps);

  const RowShape m = rows_of(x.shape());
  const Array X = x.value(), G = gain.value(), no_bias = Array::zeros(features);
  Array y(x.shape()), stats({m.count, kernels::RowStats::size});
  kernels::layer_norm_rows(X.data(), G.data(), no_bias.data(), stats.write(), y.write(), eps,
                           m.count, m.length, kernels::Centre::zero);

  auto rule = [X, stats, G, m](const Array& dy, std::array<bool, 2> wanted) {
    std::array<Array, 2> grads;  // dx, dgain
    const auto write = [&](std::size_t i, const Shape& shape) -> Real* {
      if (!wanted[i]) return nullptr;
      grads[i] = Array(shape);
      return grads[i].write();
    };
    kernels::layer_norm_rows_vjp(X.data(), stats.data(), G.data(), dy.data(), write(0, dy.shape()),
                                 write(1, G.shape()), nullptr, m.count, m.length,
                                 kernels::Centre::zero);
    return grads;
  };
  return record("rms_norm", y, wrt({x, gain}, std::move(rule)));
}

}  // namespace fledge
