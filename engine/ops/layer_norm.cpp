// Layer normalisation over the last axis (Ba, Kiros & Hinton 2016).
#include "engine/kernels/layer_norm.h"

#include <array>
#include <utility>

#include "engine/autograd.h"
#include "engine/base/errors.h"
#include "engine/ops.h"

namespace fledge {

/// x̂ = (x − mean)·r,  r = 1/√(variance + eps)            y = gain ⊙ x̂ + bias
///
///   with g = dy ⊙ gain:     dx = r·(g − mean(g) − x̂·mean(g ⊙ x̂))
///   dgain = Σ_rows dy ⊙ x̂   dbias = Σ_rows dy
Tensor layer_norm(const Tensor& x, const Tensor& gain, const Tensor& bias, double eps) {
  require(x.rank() >= 1 && x.dim(-1) > 0, "layer_norm",
          "needs a last axis to normalise: got shape ", x.shape());
  const Shape features{x.dim(-1)};
  require(gain.shape() == features && bias.shape() == features, "layer_norm",
          "gain and bias must have shape ", features, ": got ", gain.shape(), " and ", bias.shape(),
          " for x ", x.shape());
  require<ValueError>(eps >= 0, "layer_norm", "eps must not be negative: got ", eps);

  const RowShape m = rows_of(x.shape());
  const Array X = x.value(), G = gain.value();
  Array y(x.shape()), stats({m.count, kernels::RowStats::size});
  kernels::layer_norm_rows(X.data(), G.data(), bias.value().data(), stats.write(), y.write(), eps,
                           m.count, m.length, kernels::Centre::mean);

  auto rule = [X, stats, G, m](const Array& dy, std::array<bool, 3> wanted) {
    std::array<Array, 3> grads;  // dx, dgain, dbias
    const auto write = [&](std::size_t i, const Shape& shape) -> Real* {
      if (!wanted[i]) return nullptr;
      grads[i] = Array(shape);
      return grads[i].write();
    };
    kernels::layer_norm_rows_vjp(X.data(), stats.data(), G.data(), dy.data(), write(0, dy.shape()),
                                 write(1, G.shape()), write(2, G.shape()), m.count, m.length,
                                 kernels::Centre::mean);
    return grads;
  };
  return record("layer_norm", y, wrt({x, gain, bias}, std::move(rule)));
}

}  // namespace fledge
