#include "engine/ops/cached_attention.h"

#include "engine/autograd.h"
#include "engine/kernels/buffer.h"
#include "engine/ops/attention_heads.h"

namespace fledge {

/// Row t of y: softmax of ⟨q_t, k_j⟩/√D over the keys j ≤ cache.length + t that the mask shows,
/// times V. The kernels sum over the keys of a query in an order that depends on its span alone, so
/// parts of a text give the same bits.
Array cached_attention(const Array& qkv, HeadCount heads, KeyValueCache& cache, const Mask& mask,
                       const Tensor& sink) {
  require<GraphError>(!recording(), "cached_attention",
                      "has no gradient: nothing may be recorded; call it under NoGrad");
  require(qkv.rank() == 2, "cached_attention", "needs qkv (T, columns): got shape ", qkv.shape());
  const Dim C = query_columns("cached_attention", qkv.shape(), heads);
  const Dim T = qkv.dim(0), step = qkv.dim(1), own = (step - C) / 2;  // columns of keys
  const AttentionHeads all("cached_attention", {T, C}, cache.length + T, heads, mask, sink);
  require(static_cast<Dim>(cache.keys.size()) == cache.length * own, "cached_attention",
          "the cache holds ", cache.length, " positions, ", cache.keys.size(),
          " numbers: they do not fit qkv of shape ", qkv.shape());
  for (Dim t = 0; t < T; ++t) {
    const Real* const k = qkv.data() + t * step + C;
    cache.keys.insert(cache.keys.end(), k, k + own);
    cache.values.insert(cache.values.end(), k + own, k + 2 * own);
  }
  cache.length += T;
  Array y({T, C});
  Buffer log_sums(all.log_sums_shape().size());
  all.attend({qkv.data(), step}, {cache.keys.data(), own}, {cache.values.data(), own},
             {y.write(), C}, log_sums.data());
  return y;
}

/// y_i = Σ_j w_ij·v_j. With the unit vector of column d in place of v_j, and zeros in place of all
/// other values, number d of y_i is w_ij: the kernel itself gives its weights, D keys at a time.
Array cached_attention_weights(const Array& qkv, HeadCount heads, const KeyValueCache& cache,
                               const Mask& mask, const Tensor& sink) {
  require(qkv.rank() == 2, "cached_attention_weights", "needs qkv (T, columns): got shape ",
          qkv.shape());
  const Dim C = query_columns("cached_attention_weights", qkv.shape(), heads);
  const Dim T = qkv.dim(0), S = cache.length, own = (qkv.dim(1) - C) / 2;
  require(T <= S && static_cast<Dim>(cache.keys.size()) == S * own, "cached_attention_weights",
          "needs qkv of the last positions in the cache: got shape ", qkv.shape(),
          " and a cache of ", S, " positions, ", cache.keys.size(), " numbers");
  const AttentionHeads all("cached_attention_weights", {T, C}, S, heads, mask, sink);
  const Dim D = all.D;
  Array weights({all.heads, T, S});
  Real* const out = weights.write();
  Buffer values(S * own), y(T * C), log_sums(all.log_sums_shape().size());
  for (Dim first = 0; first < S; first += D) {
    const Dim count = std::min(D, S - first);
    std::fill_n(values.data(), S * own, Real(0));
    for (Dim g = 0; g < all.key_heads; ++g)
      for (Dim d = 0; d < count; ++d) values.data()[(first + d) * own + g * D + d] = Real(1);
    all.attend({qkv.data(), qkv.dim(1)}, {cache.keys.data(), own}, {values.data(), own},
               {y.data(), C}, log_sums.data());
    for (Dim h = 0; h < all.heads; ++h)
      for (Dim t = 0; t < T; ++t)
        std::copy_n(y.data() + t * C + h * D, count, out + (h * T + t) * S + first);
  }
  return weights;
}

}  // namespace fledge
