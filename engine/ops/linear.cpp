// Linear maps of the last axis: one product over the rows of all leading axes together.
#include "engine/array_math.h"
#include "engine/autograd.h"
#include "engine/base/errors.h"
#include "engine/kernels/gemm.h"
#include "engine/ops.h"

namespace fledge {

namespace {

using kernels::Matrix;

// x as a matrix of rows
Matrix rows_of_size(Dim size, const Array& x) { return {x.data(), size, 1}; }

// A·B, A (n, k), B (k, m), in the given shape; `initial` as in kernels::gemm
Array multiplied(const Shape& shape, const Matrix& a, const Matrix& b, Dim n, Dim k, Dim m,
                 kernels::Initial initial = {}) {
  Array c(shape);
  kernels::gemm(a, b, c.write(), m, n, k, m, initial);
  return c;
}

}  // namespace

/// y = x·W + b          dx = dy·Wᵀ         dW = Xᵀ·dY          db = Σ_rows dy
Tensor linear(const Tensor& x, const Tensor& weight, const Tensor& bias) {
  const Array X = x.value(), W = weight.value();
  require(W.rank() == 2 && X.rank() >= 1 && X.dim(-1) == W.dim(0), "linear",
          "inner sizes differ: ", X.shape(), " x ", W.shape());
  const Dim in = W.dim(0), out = W.dim(1);
  require(!bias.exists() || bias.shape() == Shape{out}, "linear", "the bias must have shape ",
          Shape{out}, ": got ", bias.exists() ? bias.shape() : Shape{});
  const Dim n = rows_of(X.shape()).count;
  const kernels::Initial initial{bias.exists() ? bias.value().data() : nullptr, 0};
  const Array y = multiplied(X.shape().with(-1, out), rows_of_size(in, X), rows_of_size(out, W), n,
                             in, out, initial);
  return record(
      "linear", y,
      wrt(x,
          [W, shape = X.shape(), n, in, out](const Array& dy) {
            const Matrix dY = rows_of_size(out, dy), Wt = rows_of_size(out, W).transposed();
            return multiplied(shape, dY, Wt, n, out, in);
          }),
      wrt(weight,
          [X, n, in, out](const Array& dy) {
            const Matrix Xt = rows_of_size(in, X).transposed(), dY = rows_of_size(out, dy);
            return multiplied({in, out}, Xt, dY, in, n, out);
          }),
      wrt(bias, [](const Array& dy) { return dy; }));
}

/// y_…j = ⟨x_…, t_j⟩    dx = dy·T          dT = dYᵀ·X
Tensor matmul_transposed(const Tensor& x, const Tensor& table) {
  const Array X = x.value(), T = table.value();
  require(T.rank() == 2 && X.rank() >= 1 && X.dim(-1) == T.dim(1), "matmul_transposed",
          "last axes differ: ", X.shape(), " and ", T.shape());
  const Dim n = rows_of(X.shape()).count, in = T.dim(1), out = T.dim(0);
  const Array y = multiplied(X.shape().with(-1, out), rows_of_size(in, X),
                             rows_of_size(in, T).transposed(), n, in, out);
  return record("matmul_transposed", y,
                wrt(x,
                    [T, shape = X.shape(), n, in, out](const Array& dy) {
                      const Matrix dY = rows_of_size(out, dy), rows = rows_of_size(in, T);
                      return multiplied(shape, dY, rows, n, out, in);
                    }),
                wrt(table, [X, n, in, out](const Array& dy) {
                  const Matrix dYt = rows_of_size(out, dy).transposed(), rows = rows_of_size(in, X);
                  return multiplied({out, in}, dYt, rows, out, n, in);
                }));
}

}  // namespace fledge
