// Matrix products; linear maps of the last axis, one product over the rows of all leading axes; and
// cosine similarity.
#include <cmath>

#include "engine/array_math.h"
#include "engine/autograd.h"
#include "engine/ops.h"

namespace fledge {

namespace {

void require_matmul(const Shape& a, const Shape& b) {
  require(a.rank() >= 2 && b.rank() >= 2, "matmul",
          "needs matrices (..., n, k) and (..., k, m): ", a, " x ", b,
          "; reshape a vector to (1, k) or (k, 1)");
  const Dim k = a.dim(-1);
  require(k == b.dim(-2), "matmul", "inner sizes differ: ", a, " x ", b, ", ", k, " vs ", b.dim(-2),
          k == b.dim(-1) ? "; transposing the second would fit" : "");
  const Shape lead_a = a.without(-1).without(-1), lead_b = b.without(-1).without(-1);
  require(common_shape(lead_a, lead_b).has_value(), "matmul", "leading axes do not broadcast: ", a,
          " x ", b);
}

}  // namespace

/// C = A·B over the last two axes; leading axes broadcast.  A (…, n, k)   B (…, k, m)   C (…, n, m)
///
///   C_ij = Σ_p A_ip·B_pj
///   dA   = dC·Bᵀ               each A_ip touches row i of C, weighted by row p of B
///   dB   = Aᵀ·dC               each B_pj touches column j of C, weighted by column p of A
Tensor matmul(const Tensor& a, const Tensor& b) {
  require_matmul(a.shape(), b.shape());
  if (a.rank() > 2 && b.rank() == 2) {  // a linear layer: one tall product instead of one per batch
    const RowShape rows = rows_of(a.shape());
    return reshape(matmul(reshape(a, {rows.count, rows.length}), b), a.shape().with(-1, b.dim(-1)));
  }
  const Array A = a.value(), B = b.value();
  return record("matmul", product(A, B),
                wrt(a, [B](const Array& dC) { return product(dC, transposed(B)); }),
                wrt(b, [A](const Array& dC) { return product(transposed(A), dC); }));
}

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

namespace {

// The largest power of two that is at most the largest |x| along `axis`; 1 for zero, ∞ and NaN.
Array scale_of(const Array& x, int axis) {
  const Array sizes = map(x, [](Real v) { return v < Real(0) ? -v : v; });
  return map(max(sizes, {axis}, true).value(), [](Real largest) {
    const double size = value_of(largest);
    return Real(size > 0 && std::isfinite(size) ? std::ldexp(1.0, std::ilogb(size)) : 1);
  });
}

// By how much rounding made a cosine larger than 1 or less than −1.
Real excess(Real cosine) {
  const double y = value_of(cosine);
  return Real(y > 1 ? y - 1 : y < -1 ? y + 1 : 0);
}

}  // namespace

/// cos = ⟨a, b⟩ / (‖a‖·‖b‖), composed: its gradient is that of its parts. The cosine does not
/// depend on lengths. So each vector is divided by a constant, a power of two, which loses no
/// digit: squares neither overflow nor vanish.
Tensor cosine_similarity(const Tensor& a, const Tensor& b, int axis) {
  const Shape common = broadcast(a.shape(), b.shape(), "cosine_similarity");
  require(common.rank() >= 1, "cosine_similarity", "needs vectors: ", a.shape(), " and ",
          b.shape());
  require(a.rank() == b.rank(), "cosine_similarity", "needs equal ranks: ", a.shape(), " and ",
          b.shape());
  const Axes over{axis_of(axis, common, "cosine_similarity")};
  const auto scaled = [&](const Tensor& x) {  // both lengths are those of the stretched vectors
    const Tensor X = x.shape() == common ? x : x + Tensor(Array::zeros(common));
    return X.size() == 0 ? X : X / Tensor(scale_of(X.value(), over[0]));
  };
  const Tensor A = scaled(a), B = scaled(b);
  const Tensor y = sum(A * B, over) / (sqrt(sum(A * A, over)) * sqrt(sum(B * B, over)));
  return y - Tensor(map(y.value(), excess));
}

}  // namespace fledge
