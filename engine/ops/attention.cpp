// Attention in one op: the weights are computed again in the backward pass, not kept.
//
//     y = softmax(Q·Kᵀ/√D)·V, per head                                 (Vaswani et al. 2017, eq. 1)
//
// The rules are those of kernels/attention.h.
#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "engine/autograd.h"
#include "engine/base/errors.h"
#include "engine/kernels/buffer.h"
#include "engine/kernels/parallel.h"
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

// How the heads of a batch call the kernel.

namespace {

// Head h of batch element b.
struct Head {
  const AttentionHeads& all;
  Dim b, h;

  kernels::HeadSizes sizes() const {
    return {all.queries, all.keys, all.D, Real(1 / std::sqrt(static_cast<double>(all.D))),
            all.spans.data() + b / all.share * all.queries};
  }
  // The rows of this head in a table of queries, or of keys.
  template <class Strided>
  Strided queries(Strided x) const {
    return {x.data + b * all.queries * x.step + h * all.D, x.step};
  }
  template <class Strided>
  Strided keys(Strided x) const {
    return {x.data + b * all.keys * x.step + h * all.D, x.step};
  }
};

}  // namespace

Dim require_heads(std::string_view op, Dim channels, Dim heads) {
  require<ValueError>(heads > 0 && channels > 0 && channels % heads == 0, op, channels,
                      " channels do not split into ", heads, " equal heads");
  return heads;
}

AttentionHeads::AttentionHeads(std::string_view op, const Shape& q, Dim key_count, Dim head_count,
                               const Mask& mask)
    : batch(q.without(-1).without(-1).size()),
      heads(require_heads(op, q.dim(-1), head_count)),
      queries(q.dim(-2)),
      keys(key_count),
      D(q.dim(-1) / heads),
      share(batch) {
  const Dim first = q.rank() > 2 ? q[0] : 1;  // axis 0 is the batch of a mask
  spans = mask.spans({first, heads, queries, keys}, op);
  const bool one_for_all = static_cast<Dim>(spans.size()) == queries;
  if (!one_for_all && batch > 0) share = batch / first;
}

// The last blocks of queries come first: with a causal mask they take longest.
void AttentionHeads::attend(StridedRows q, StridedRows k, StridedRows v, StridedRowsOut y,
                            Real* log_sums) const {
  const Dim blocks = kernels::attention_blocks(D, queries);
  kernels::parallel_for(batch * heads * blocks, batch * heads * queries * keys * D, [&](Dim i) {
    const Head at{*this, i / blocks / heads, i / blocks % heads};
    Real* const sums = log_sums + (at.b * heads + at.h) * 2 * queries;
    kernels::attention_head(at.sizes(), blocks - 1 - i % blocks, at.queries(q), at.keys(k),
                            at.keys(v), at.queries(y), sums);
  });
}

// A pair of blocks adds to what the pairs before it, of the same queries or of the same keys, left.
// So pairs run in rounds: in a round the numbers of the two blocks have the same sum.
void AttentionHeads::attend_vjp(StridedRows q, StridedRows k, StridedRows v, StridedRows y,
                                StridedRows dy, const Real* log_sums, StridedRowsOut dq,
                                StridedRowsOut dk, StridedRowsOut dv) const {
  const Dim query_blocks = kernels::attention_blocks(D, queries);
  const Dim key_blocks = kernels::attention_blocks(D, keys), all = batch * heads;
  const Dim work =
      all * queries * keys * D / (query_blocks * key_blocks);  // of a pair of each head
  Buffer means(all * queries);
  for (Dim round = 0; round < query_blocks + key_blocks - 1; ++round) {
    const Dim first = std::max(Dim{0}, round - key_blocks + 1);
    const Dim pairs = std::min(query_blocks, round + 1) - first;
    kernels::parallel_for(all * pairs, work * pairs, [&](Dim i) {
      const Head at{*this, i / pairs / heads, i / pairs % heads};
      const Dim block = first + i % pairs;
      const Real* const sums = log_sums + (at.b * heads + at.h) * 2 * queries;
      kernels::attention_head_vjp(at.sizes(), block, round - block, at.queries(q), at.keys(k),
                                  at.keys(v), at.queries(y), at.queries(dy), sums,
                                  means.data() + (at.b * heads + at.h) * queries, at.queries(dq),
                                  at.keys(dk), at.keys(dv));
    });
  }
}

}  // namespace fledge
