// Linear maps of the last axis: one product over the rows of all leading axes together.
#include "engine/array_math.h"
#include "engine/autograd.h"
#include "engine/base/errors.h"
#include "engine/ops.h"

namespace fledge {

/// y = x·W + b          dx = dy·Wᵀ         dW = Xᵀ·dY          db = Σ_rows dy
Tensor linear(const Tensor& x, const Tensor& weight, const Tensor& bias) {
  const Array X = x.value(), W = weight.value();
  require(W.rank() == 2 && X.rank() >= 1 && X.dim(-1) == W.dim(0), "linear",
          "inner sizes differ: ", X.shape(), " x ", W.shape());
  const Dim out = W.dim(1);
  require(!bias.exists() || bias.shape() == Shape{out}, "linear", "the bias must have shape ",
          Shape{out}, ": got ", bias.exists() ? bias.shape() : Shape{});
  const Array initial = bias.exists() ? bias.value() : Array();
  return record(
      "linear", product_of_rows(X.shape().with(-1, out), X, W, initial),
      wrt(x, [W, shape = X.shape()](
                 const Array& dy) { return product_of_rows(shape, dy, transposed(W)); }),
      wrt(weight, [X, shape = W.shape()](
                      const Array& dy) { return product_of_rows(shape, transposed(X), dy); }),
      wrt(bias, [](const Array& dy) { return dy; }));
}

/// y_…j = ⟨x_…, t_j⟩    dx = dy·T          dT = dYᵀ·X
Tensor matmul_transposed(const Tensor& x, const Tensor& table) {
  const Array X = x.value(), T = table.value();
  require(T.rank() == 2 && X.rank() >= 1 && X.dim(-1) == T.dim(1), "matmul_transposed",
          "last axes differ: ", X.shape(), " and ", T.shape());
  return record(
      "matmul_transposed", product_of_rows(X.shape().with(-1, T.dim(0)), X, transposed(T)),
      wrt(x, [T, shape = X.shape()](const Array& dy) { return product_of_rows(shape, dy, T); }),
      wrt(table, [X, shape = T.shape()](const Array& dy) {
        return product_of_rows(shape, transposed(dy), X);
      }));
}

}  // namespace fledge
