// The two products of attention, reading only what the mask allows:   S = Q·Kᵀ   and   Y = W·V.
// (Vaswani et al. 2017, eq. 1, without the softmax between them; that is ops/softmax.cpp.)
#include <algorithm>
#include <cmath>
#include <utility>

#include "engine/autograd.h"
#include "engine/base/errors.h"
#include "engine/kernels/attention.h"
#include "engine/kernels/buffer.h"
#include "engine/kernels/masked.h"
#include "engine/kernels/parallel.h"
#include "engine/ops.h"
#include "engine/ops/cached_attention.h"

namespace fledge {

namespace {

using Table = std::vector<unsigned char>;

// A batch of grids of n queries × m keys, with vectors of size d.
struct Grids {
  Dim count, n, m, d;
};

void require_same_lead(std::string_view op, const Shape& a, const Shape& b) {
  require(a.rank() >= 2 && a.rank() == b.rank() &&
              a.without(-1).without(-1) == b.without(-1).without(-1),
          op, "needs the same leading axes: ", a, " and ", b);
}

/// C_ij = ⟨A_i, B_j⟩ where visible, else `hidden`
Array dots(const Array& a, const Array& b, const Table& may_look, Real hidden, const Grids& g) {
  Array c(a.shape().with(-1, g.m));
  Real* to = c.write();
  for (Dim i = 0; i < g.count; ++i)
    kernels::masked_dots(a.data() + i * g.n * g.d, b.data() + i * g.m * g.d,
                         may_look.data() + i * g.n * g.m, to + i * g.n * g.m, hidden, g.n, g.m,
                         g.d);
  return c;
}

/// C_i = Σ_j W_ij·B_j over visible j
Array mix(const Array& w, const Array& b, const Table& may_look, const Grids& g) {
  Array c(w.shape().with(-1, g.d));
  Real* to = c.write();
  for (Dim i = 0; i < g.count; ++i)
    kernels::masked_mix(w.data() + i * g.n * g.m, b.data() + i * g.m * g.d,
                        may_look.data() + i * g.n * g.m, to + i * g.n * g.d, g.n, g.m, g.d);
  return c;
}

/// C_j = Σ_i W_ij·A_i over the i that see j
Array weighted_sum_transposed(const Array& w, const Array& a, const Table& may_look,
                              const Grids& g) {
  Array c(a.shape().with(-2, g.m));
  Real* to = c.write();
  for (Dim i = 0; i < g.count; ++i)
    kernels::masked_mix_back(w.data() + i * g.n * g.m, a.data() + i * g.n * g.d,
                             may_look.data() + i * g.n * g.m, to + i * g.m * g.d, g.n, g.m, g.d);
  return c;
}

}  // namespace

namespace {

// The heads of a batch, side by side: what belongs to head h begins at h·D.
struct Heads {
  Dim batch, heads, queries, keys, D;
  Dim spans_step;  // between the spans of two batch elements; 0 when they are the same
  PoolVector<KeyRange> spans;

  // Calls f(sizes, b, h) for every head of every batch element, several at once.
  template <class F>
  void each(F f) const {
    const Dim work = batch * heads * queries * keys * D;
    kernels::parallel_for(batch * heads, work, [&](Dim i) {
      const Dim b = i / heads, h = i % heads;
      const Real scale = Real(1 / std::sqrt(static_cast<double>(D)));
      f(kernels::HeadSizes{queries, keys, D, scale, spans.data() + b * spans_step}, b, h);
    });
  }
};

Heads heads_of(const char* op, const Shape& q, const Shape& kv, Dim heads, Dim width,
               const Mask& mask) {
  require<ValueError>(heads > 0 && width > 0 && width % heads == 0, op, width,
                      " channels do not split into ", heads, " equal heads");
  const Dim queries = q.dim(-2), keys = kv.dim(-2);
  const Dim batch = q.without(-1).without(-1).size();
  const Dim first = q.rank() > 2 ? q[0] : 1;
  Heads all{
      batch, heads, queries, keys, width / heads, 0, mask.spans({first, heads, queries, keys}, op)};
  const bool one_for_all = static_cast<Dim>(all.spans.size()) == queries;
  if (!one_for_all) all.spans_step = queries;
  if (!one_for_all && first != batch) {  // several leading axes: axis 0 is the batch of a mask
    PoolVector<KeyRange> repeated;
    for (Dim b = 0; b < batch; ++b) {
      const auto from = all.spans.begin() + b / (batch / first) * queries;
      repeated.insert(repeated.end(), from, from + queries);
    }
    all.spans = std::move(repeated);
  }
  return all;
}

}  // namespace

/// y = softmax(Q·Kᵀ/√D)·V per head, without a table of weights; see kernels/attention.h for the
/// rules
Tensor attention(const Tensor& qkv, Dim heads, const Mask& mask) {
  require(qkv.rank() >= 2 && qkv.dim(-1) % 3 == 0, "attention",
          "needs q, k and v side by side, (..., T, 3C): got shape ", qkv.shape());
  const Dim C = qkv.dim(-1) / 3, T = qkv.dim(-2), step = 3 * C;
  const Heads all = heads_of("attention", qkv.shape(), qkv.shape(), heads, C, mask);
  const Array X = qkv.value();
  Array y(qkv.shape().with(-1, C)), log_sums({all.batch, heads, T, 2});
  Real* const y_out = y.write();
  Real* const log_sums_out = log_sums.write();
  all.each([&](const kernels::HeadSizes& sizes, Dim b, Dim h) {
    const Real* q = X.data() + b * T * step + h * sizes.D;
    kernels::attention_head(sizes, {q, step}, {q + C, step}, {q + 2 * C, step},
                            {y_out + b * T * C + h * sizes.D, C},
                            log_sums_out + (b * all.heads + h) * 2 * T);
  });
  return record("attention", y, wrt(qkv, [X, y, log_sums, all, C, T, step](const Array& dy) {
                  Array dX(X.shape());
                  Real* const out = dX.write();
                  all.each([&](const kernels::HeadSizes& sizes, Dim b, Dim h) {
                    const Dim at = b * T * step + h * sizes.D, at_y = b * T * C + h * sizes.D;
                    const Real* q = X.data() + at;
                    kernels::attention_head_vjp(
                        sizes, {q, step}, {q + C, step}, {q + 2 * C, step}, {y.data() + at_y, C},
                        {dy.data() + at_y, C}, log_sums.data() + (b * all.heads + h) * 2 * T,
                        {out + at, step}, {out + at + C, step}, {out + at + 2 * C, step});
                  });
                  return dX;
                }));
}

/// Row t of y: softmax of ⟨q_t, k_j⟩/√D over all keys j ≤ cache.length + t, times V. The kernels
/// sum over the keys of a query in an order that depends on its span alone, so parts of a text give
/// the same bits.
Array cached_attention(const Array& qkv, Dim heads, KeyValueCache& cache) {
  require<GraphError>(!recording(), "cached_attention",
                      "has no gradient: nothing may be recorded; call it under NoGrad");
  require(qkv.rank() == 2 && qkv.dim(1) % 3 == 0, "cached_attention",
          "needs q, k and v side by side, (T, 3C): got shape ", qkv.shape());
  const Dim T = qkv.dim(0), C = qkv.dim(1) / 3, step = 3 * C, S = cache.length + T;
  const Heads all = heads_of("cached_attention", {T, C}, {S, C}, heads, C, causal());
  require(static_cast<Dim>(cache.keys.size()) == cache.length * C, "cached_attention",
          "the cache holds ", cache.length, " places, ", cache.keys.size(),
          " numbers: they do not fit qkv of shape ", qkv.shape());
  for (Dim t = 0; t < T; ++t) {
    const Real* const k = qkv.data() + t * step + C;
    cache.keys.insert(cache.keys.end(), k, k + C);
    cache.values.insert(cache.values.end(), k + C, k + 2 * C);
  }
  cache.length = S;
  Array y({T, C});
  Real* const y_out = y.write();
  Buffer log_sums(heads * 2 * T);
  all.each([&](const kernels::HeadSizes& sizes, Dim, Dim h) {
    const Dim at = h * sizes.D;
    kernels::attention_head(sizes, {qkv.data() + at, step}, {cache.keys.data() + at, C},
                            {cache.values.data() + at, C}, {y_out + at, C},
                            log_sums.data() + h * 2 * T);
  });
  return y;
}

/// y_i = Σ_j w_ij·v_j. With the unit vector of column d in place of v_j, and zeros in place of all
/// other values, number d of y_i is w_ij: the kernel itself gives its weights, D keys at a time.
Array cached_attention_weights(const Array& qkv, Dim heads, const KeyValueCache& cache) {
  require(qkv.rank() == 2 && qkv.dim(1) % 3 == 0 && qkv.dim(0) <= cache.length &&
              static_cast<Dim>(cache.keys.size()) == cache.length * qkv.dim(1) / 3,
          "cached_attention_weights",
          "needs qkv (T, 3C) of the last places in the cache: got shape ", qkv.shape(),
          " and a cache of ", cache.length, " places, ", cache.keys.size(), " numbers");
  const Dim T = qkv.dim(0), C = qkv.dim(1) / 3, S = cache.length;
  const Heads all = heads_of("cached_attention_weights", {T, C}, {S, C}, heads, C, causal());
  Array weights({heads, T, S});
  Real* const out = weights.write();
  all.each([&](const kernels::HeadSizes& sizes, Dim, Dim h) {
    const Dim D = sizes.D;
    Buffer values(S * D), y(T * D), log_sums(2 * T);
    for (Dim first = 0; first < S; first += D) {
      const Dim count = std::min(D, S - first);
      std::fill(values.data(), values.data() + S * D, Real(0));
      for (Dim d = 0; d < count; ++d) values.data()[(first + d) * D + d] = Real(1);
      kernels::attention_head(sizes, {qkv.data() + h * D, 3 * C}, {cache.keys.data() + h * D, C},
                              {values.data(), D}, {y.data(), D}, log_sums.data());
      for (Dim t = 0; t < T; ++t)
        std::copy_n(y.data() + t * D, count, out + (h * T + t) * S + first);
    }
  });
  return weights;
}

/// S_ij = ⟨q_i, k_j⟩ where visible, −∞ elsewhere.   q (…, n, D)   k (…, m, D)   S (…, n, m)
///
///   dq_i = Σ_j dS_ij·k_j         dk_j = Σ_i dS_ij·q_i         over visible (i, j)
Tensor attention_scores(const Tensor& q, const Tensor& k, const Mask& mask) {
  require_same_lead("attention_scores", q.shape(), k.shape());
  require(q.dim(-1) == k.dim(-1), "attention_scores",
          "queries and keys differ in size: ", q.shape(), " and ", k.shape());
  const Grids g{q.shape().without(-1).without(-1).size(), q.dim(-2), k.dim(-2), q.dim(-1)};
  const Table may_look = mask.table(q.shape().with(-1, g.m), "attention_scores");
  const Array Q = q.value(), K = k.value();
  return record("attention_scores", dots(Q, K, may_look, Real(-infinity), g),
                wrt(q, [K, may_look, g](const Array& dS) { return mix(dS, K, may_look, g); }),
                wrt(k, [Q, may_look, g](const Array& dS) {
                  return weighted_sum_transposed(dS, Q, may_look, g);
                }));
}

/// y_i = Σ_j w_ij·v_j over visible j.   w (…, n, m)   v (…, m, D)   y (…, n, D)
///
///   dw_ij = ⟨dy_i, v_j⟩ where visible, else 0         dv_j = Σ_i w_ij·dy_i over the i that see j
Tensor weighted_sum(const Tensor& weights, const Tensor& v, const Mask& mask) {
  require_same_lead("weighted_sum", weights.shape(), v.shape());
  require(weights.dim(-1) == v.dim(-2), "weighted_sum",
          "keys and values differ in number: ", weights.shape(), " and ", v.shape());
  const Grids g{v.shape().without(-1).without(-1).size(), weights.dim(-2), v.dim(-2), v.dim(-1)};
  const Table may_look = mask.table(weights.shape(), "weighted_sum");
  const Array W = weights.value(), V = v.value();
  return record(
      "weighted_sum", mix(W, V, may_look, g),
      wrt(weights, [V, may_look, g](const Array& dy) { return dots(dy, V, may_look, Real(0), g); }),
      wrt(v, [W, may_look, g](const Array& dy) {
        return weighted_sum_transposed(W, dy, may_look, g);
      }));
}

}  // namespace fledge
