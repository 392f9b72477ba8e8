// Linear maps of the last axis: one tall product, whatever the leading axes are.
#include <algorithm>

#include "engine/array_math.h"
#include "engine/autograd.h"
#include "engine/errors.h"
#include "engine/kernels/gemm.h"
#include "engine/ops.h"

namespace fledge::inline FLEDGE_BUILD {

namespace {

/// x (…, n) as a matrix of rows
Array rows_matrix(const Array& x) {
  const Rows rows = rows_of(x.shape());
  return x.shaped({rows.count, rows.length});
}

}  // namespace

/// y = x·W + b          dx = dy·Wᵀ         dW = Xᵀ·dY          db = Σ_rows dy
Tensor linear(const Tensor& x, const Tensor& weight, const Tensor& bias) {
  require(weight.rank() == 2 && x.rank() >= 1 && x.dim(-1) == weight.dim(0), "linear",
          "inner sizes differ: ", x.shape(), " x ", weight.shape());
  const Dim in = weight.dim(0), out = weight.dim(1);
  require(!bias.exists() || bias.shape() == Shape{out}, "linear", "the bias must have shape ",
          Shape{out}, ": got ", bias.exists() ? bias.shape() : Shape{});
  const Array X = rows_matrix(x.value()), W = weight.value();
  const Dim rows = X.dim(0);
  const Shape from = x.shape(), to = from.with(-1, out);

  Array y({rows, out});
  Real* numbers = y.write();
  if (bias.exists())
    for (Dim r = 0; r < rows; ++r) std::copy_n(bias.value().data(), out, numbers + r * out);
  kernels::gemm({X.data(), in, 1}, {W.data(), out, 1}, numbers, out, rows, in, out,
                bias.exists() ? kernels::Into::add : kernels::Into::overwrite);

  return record(
      "linear", y.shaped(to),
      wrt(x, [W, from](
                 const Array& dy) { return product(rows_matrix(dy), transposed(W)).shaped(from); }),
      wrt(weight, [X](const Array& dy) { return product(transposed(X), rows_matrix(dy)); }),
      wrt(bias, [](const Array& dy) { return dy; }));
}

/// y_…j = ⟨x_…, t_j⟩    dx = dy·T          dT = dYᵀ·X
Tensor inner(const Tensor& x, const Tensor& table) {
  require(table.rank() == 2 && x.rank() >= 1 && x.dim(-1) == table.dim(1), "inner",
          "last axes differ: ", x.shape(), " and ", table.shape());
  const Array X = rows_matrix(x.value()), T = table.value();
  const Shape from = x.shape();
  return record(
      "inner", product(X, transposed(T)).shaped(from.with(-1, T.dim(0))),
      wrt(x, [T, from](const Array& dy) { return product(rows_matrix(dy), T).shaped(from); }),
      wrt(table, [X](const Array& dy) { return product(transposed(rows_matrix(dy)), X); }));
}

}  // namespace fledge::inline FLEDGE_BUILD
