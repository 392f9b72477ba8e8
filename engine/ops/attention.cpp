// Attention in one op: the weights are computed again in the backward pass, not kept.
//
//     y = softmax(Q·Kᵀ/√D)·V, per head                                 (Vaswani et al. 2017, eq. 1)
//
// The rules are those of kernels/attention.h.
#include <array>
#include <utility>

#include "engine/autograd.h"
#include "engine/base/errors.h"
#include "engine/ops.h"
#include "engine/ops/attention_heads.h"

namespace fledge {

Tensor attention(const Tensor& qkv, Dim heads, const Mask& mask) {
  require(qkv.rank() >= 2 && qkv.dim(-1) % 3 == 0, "attention",
          "needs q, k and v side by side, (..., T, 3C): got shape ", qkv.shape());
  const Dim C = qkv.dim(-1) / 3, step = 3 * C;
  const Shape y_shape = qkv.shape().with(-1, C);
  const AttentionHeads all("attention", y_shape, qkv.dim(-2), heads, mask);
  const Array X = qkv.value();
  const Real* const q = X.data();
  Array y(y_shape), log_sums(all.log_sums_shape());
  all.attend({q, step}, {q + C, step}, {q + 2 * C, step}, {y.write(), C}, log_sums.write());
  return record("attention", y, wrt(qkv, [X, y, log_sums, all, C, step](const Array& dy) {
                  Array dX(X.shape());
                  const Real* const x = X.data();
                  Real* const dx = dX.write();
                  all.attend_vjp({x, step}, {x + C, step}, {x + 2 * C, step}, {y.data(), C},
                                 {dy.data(), C}, log_sums.data(), {dx, step}, {dx + C, step},
                                 {dx + 2 * C, step});
                  return dX;
                }));
}

// The same with q, k and v in separate tensors: only pointers and steps differ.
Tensor attention(const Tensor& q, const Tensor& k, const Tensor& v, Dim heads, const Mask& mask) {
  require(q.rank() >= 2 && k.shape() == v.shape() && q.dim(-1) == k.dim(-1), "attention",
          "needs q (..., T, C) and k, v (..., S, C): got ", q.shape(), ", ", k.shape(), ", ",
          v.shape());
  require(q.rank() == k.rank() && q.shape().with(-2, 0) == k.shape().with(-2, 0), "attention",
          "needs the same leading axes: ", q.shape(), " and ", k.shape());
  const Dim C = q.dim(-1);
  const AttentionHeads all("attention", q.shape(), k.dim(-2), heads, mask);
  const Array Q = q.value(), K = k.value(), V = v.value();
  Array y(q.shape()), log_sums(all.log_sums_shape());
  all.attend({Q.data(), C}, {K.data(), C}, {V.data(), C}, {y.write(), C}, log_sums.write());
  auto rule = [Q, K, V, y, log_sums, all, C](const Array& dy, std::array<bool, 3>) {
    Array dQ(Q.shape()), dK(K.shape()), dV(V.shape());
    all.attend_vjp({Q.data(), C}, {K.data(), C}, {V.data(), C}, {y.data(), C}, {dy.data(), C},
                   log_sums.data(), {dQ.write(), C}, {dK.write(), C}, {dV.write(), C});
    return std::array<Array, 3>{dQ, dK, dV};
  };
  return record("attention", y, wrt({q, k, v}, std::move(rule)));
}

}  // namespace fledge
