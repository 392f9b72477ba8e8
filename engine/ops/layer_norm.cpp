// Layer normalisation over the last axis (Ba, Kiros & Hinton 2016).
#include "engine/autograd.h"
#include "engine/base/errors.h"
#include "engine/kernels/rows.h"
#include "engine/kernels/sums.h"
#include "engine/ops.h"

namespace fledge {

/// x̂ = (x − mean)·r,  r = 1/√(variance + eps)            y = gain ⊙ x̂ + bias
///
///   with g = dy ⊙ gain:     dx = r·(g − mean(g) − x̂·mean(g ⊙ x̂))
///   dgain = Σ_rows dy ⊙ x̂   dbias = Σ_rows dy            (the engine sums the rows of the second)
Tensor layer_norm(const Tensor& x, const Tensor& gain, const Tensor& bias, double eps) {
  require(x.rank() >= 1 && x.dim(-1) > 0, "layer_norm",
          "needs a last axis to normalise: got shape ", x.shape());
  const Shape features{x.dim(-1)};
  require(gain.shape() == features && bias.shape() == features, "layer_norm",
          "gain and bias must have shape ", features, ": got ", gain.shape(), " and ", bias.shape(),
          " for x ", x.shape());
  require<ValueError>(eps >= 0, "layer_norm", "eps must not be negative: got ", eps);

  const Rows m = rows_of(x.shape());
  const Array X = x.value(), G = gain.value();
  Array y(x.shape()), normals({m.count, kernels::Normal::size});
  kernels::layer_norm_rows(X.data(), G.data(), bias.value().data(), normals.write(), y.write(), eps,
                           m.count, m.length);

  return record("layer_norm", y,
                wrt(x,
                    [X, normals, G, m](const Array& dy) {
                      Array dx(dy.shape());
                      kernels::layer_norm_rows_vjp(X.data(), normals.data(), G.data(), dy.data(),
                                                   dx.write(), m.count, m.length);
                      return dx;
                    }),
                wrt(gain,
                    [X, normals, m](const Array& dy) {
                      Array dgain({m.length});
                      kernels::dot_columns(dy.data(), X.data(), normals.data(), dgain.write(),
                                           m.count, m.length);
                      return dgain;
                    }),
                wrt(bias, [](const Array& dy) { return dy; }));
}

}  // namespace fledge
