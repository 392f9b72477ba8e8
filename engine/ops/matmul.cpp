// Matrix products, and cosine similarity.
#include "engine/array_math.h"
#include "engine/autograd.h"
#include "engine/base/errors.h"
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
    const Rows rows = rows_of(a.shape());
    return reshape(matmul(reshape(a, {rows.count, rows.length}), b), a.shape().with(-1, b.dim(-1)));
  }
  const Array A = a.value(), B = b.value();
  return record("matmul", product(A, B),
                wrt(a, [B](const Array& dC) { return product(dC, transposed(B)); }),
                wrt(b, [A](const Array& dC) { return product(transposed(A), dC); }));
}

/// cos = ⟨a, b⟩ / (‖a‖·‖b‖), composed: its gradient is that of its parts.
Tensor cosine_similarity(const Tensor& a, const Tensor& b, int axis) {
  const Shape common = broadcast(a.shape(), b.shape(), "cosine_similarity");
  require(common.rank() >= 1, "cosine_similarity", "needs vectors: ", a.shape(), " and ",
          b.shape());
  require(a.rank() == b.rank(), "cosine_similarity", "needs equal ranks: ", a.shape(), " and ",
          b.shape());
  const Axes over{axis_of(axis, common, "cosine_similarity")};
  const auto stretch = [&](const Tensor& x) {  // both lengths are those of the stretched vectors
    return x.shape() == common ? x : x + Tensor(Array::zeros(common));
  };
  const Tensor A = stretch(a), B = stretch(b);
  return sum(A * B, over) / (sqrt(sum(A * A, over)) * sqrt(sum(B * B, over)));
}

}  // namespace fledge
