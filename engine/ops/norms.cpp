// Layer norm (Ba, Kiros & Hinton 2016) and RMS norm (Zhang & Sennrich 2019), over the last axis.
#include <array>
#include <utility>

#include "engine/autograd.h"
#include "engine/kernels/layer_norm.h"
#include "engine/ops.h"

namespace fledge {

namespace {

using kernels::Centre;

void require_rows(const char* op, const Tensor& x, double eps) {
  require(x.rank() >= 1 && x.dim(-1) > 0, op, "needs a last axis to normalise: got shape ",
          x.shape());
  require<ValueError>(eps >= 0, op, "eps must not be negative: got ", eps);
}

/// x̂ = (x − centre)·r,  r = 1/√(mean((x − centre)²) + eps)          y = gain ⊙ x̂ + bias
///
///   with g = dy ⊙ gain:     dx = r·(g − mean(g) − x̂·mean(g ⊙ x̂)), without mean(g) where centre is 0
///   dgain = Σ_rows dy ⊙ x̂   dbias = Σ_rows dy
Tensor normalised_rows(const char* op, const Tensor& x, const Tensor& gain, const Tensor& bias,
                       double eps, Centre centre) {
  const RowShape m = rows_of(x.shape());
  const Array X = x.value(), G = gain.value();
  Array y(x.shape()), stats({m.count, kernels::RowStats::size});
  kernels::layer_norm_rows(X.data(), G.data(), bias.value().data(), stats.write(), y.write(), eps,
                           m.count, m.length, centre);

  auto rule = [X, stats, G, m, centre](const Array& dy, std::array<bool, 3> wanted) {
    std::array<Array, 3> grads;  // dx, dgain, dbias
    const auto write = [&](std::size_t i, const Shape& shape) -> Real* {
      if (!wanted[i]) return nullptr;
      grads[i] = Array(shape);
      return grads[i].write();
    };
    kernels::layer_norm_rows_vjp(X.data(), stats.data(), G.data(), dy.data(), write(0, dy.shape()),
                                 write(1, G.shape()), write(2, G.shape()), m.count, m.length,
                                 centre);
    return grads;
  };
  return record(op, y, wrt({x, gain, bias}, std::move(rule)));
}

}  // namespace

Tensor layer_norm(const Tensor& x, const Tensor& gain, const Tensor& bias, double eps) {
  require_rows("layer_norm", x, eps);
  const Shape features{x.dim(-1)};
  require(gain.shape() == features && bias.shape() == features, "layer_norm",
          "gain and bias must have shape ", features, ": got ", gain.shape(), " and ", bias.shape(),
          " for x ", x.shape());
  return normalised_rows("layer_norm", x, gain, bias, eps, Centre::mean);
}

Tensor rms_norm(const Tensor& x, const Tensor& gain, double eps) {
  require_rows("rms_norm", x, eps);
  const Shape features{x.dim(-1)};
  require(gain.shape() == features, "rms_norm", "gain must have shape ", features, ": got ",
          gain.shape(), " for x ", x.shape());
  return normalised_rows("rms_norm", x, gain, Tensor(Array::zeros(features)), eps, Centre::zero);
}

}  // namespace fledge
