#include "engine/ops/cached_attention.h"

#include <algorithm>

#include "engine/autograd.h"
#include "engine/base/errors.h"
#include "engine/kernels/buffer.h"
#include "engine/ops/attention_heads.h"

namespace fledge {

/// Row t of y: softmax of ⟨q_t, k_j⟩/√D over all keys j ≤ cache.length + t, times V. The kernels
/// sum over the keys of a query in an order that depends on its span alone, so parts of a text give
/// the same bits.
Array cached_attention(const Array& qkv, Dim heads, KeyValueCache& cache) {
  require<GraphError>(!recording(), "cached_attention",
                      "has no gradient: nothing may be recorded; call it under NoGrad");
  require(qkv.rank() == 2 && qkv.dim(1) % 3 == 0, "cached_attention",
          "needs q, k and v side by side, (T, 3C): got shape ", qkv.shape());
  const Dim T = qkv.dim(0), C = qkv.dim(1) / 3, step = 3 * C;
  const AttentionHeads all("cached_attention", {T, C}, cache.length + T, heads, causal());
  require(static_cast<Dim>(cache.keys.size()) == cache.length * C, "cached_attention",
          "the cache holds ", cache.length, " positions, ", cache.keys.size(),
          " numbers: they do not fit qkv of shape ", qkv.shape());
  for (Dim t = 0; t < T; ++t) {
    const Real* const k = qkv.data() + t * step + C;
    cache.keys.insert(cache.keys.end(), k, k + C);
    cache.values.insert(cache.values.end(), k + C, k + 2 * C);
  }
  cache.length += T;
  Array y({T, C});
  Buffer log_sums(all.log_sums_shape().size());
  all.attend({qkv.data(), step}, {cache.keys.data(), C}, {cache.values.data(), C}, {y.write(), C},
             log_sums.data());
  return y;
}

/// y_i = Σ_j w_ij·v_j. With the unit vector of column d in place of v_j, and zeros in place of all
/// other values, number d of y_i is w_ij: the kernel itself gives its weights, D keys at a time.
Array cached_attention_weights(const Array& qkv, Dim heads, const KeyValueCache& cache) {
  require(qkv.rank() == 2 && qkv.dim(1) % 3 == 0 && qkv.dim(0) <= cache.length &&
              static_cast<Dim>(cache.keys.size()) == cache.length * qkv.dim(1) / 3,
          "cached_attention_weights",
          "needs qkv (T, 3C) of the last positions in the cache: got shape ", qkv.shape(),
          " and a cache of ", cache.length, " positions, ", cache.keys.size(), " numbers");
  const Dim T = qkv.dim(0), C = qkv.dim(1) / 3, S = cache.length;
  const AttentionHeads all("cached_attention_weights", {T, C}, S, heads, causal());
  const Dim D = all.D;
  Array weights({heads, T, S});
  Real* const out = weights.write();
  Buffer values(S * C), y(T * C), log_sums(all.log_sums_shape().size());
  for (Dim first = 0; first < S; first += D) {
    const Dim count = std::min(D, S - first);
    std::fill_n(values.data(), S * C, Real(0));
    for (Dim h = 0; h < heads; ++h)
      for (Dim d = 0; d < count; ++d) values.data()[(first + d) * C + h * D + d] = Real(1);
    all.attend({qkv.data(), 3 * C}, {cache.keys.data(), C}, {values.data(), C}, {y.data(), C},
               log_sums.data());
    for (Dim h = 0; h < heads; ++h)
      for (Dim t = 0; t < T; ++t)
        std::copy_n(y.data() + t * C + h * D, count, out + (h * T + t) * S + first);
  }
  return weights;
}

}  // namespace fledge
