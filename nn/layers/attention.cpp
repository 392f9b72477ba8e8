#include "nn/layers/attention.h"

#include <algorithm>

#include "engine/ops/attention_heads.h"

namespace fledge {

namespace {

/// (…, T, H·D) -> (…, H, T, D). (T, H·D) -> (1, H, T, D): a batch of one, so that a mask never
/// takes the heads for the batch.
Tensor split_heads(const Tensor& x, Dim heads) {
  const Dim D = x.dim(-1) / heads;
  const Shape lead = x.rank() == 2 ? Shape{1, x.dim(0)} : x.shape().without(-1);
  return transpose(reshape(x, lead.append({heads, D})), -3, -2);
}

/// (…, H, T, D) -> shape, (…, T, H·D)
Tensor merge_heads(const Tensor& x, const Shape& shape) {
  const Tensor side_by_side = transpose(x, -3, -2);
  return reshape(side_by_side, shape);
}

void require_features(const char* op, const Tensor& x, const Linear& projection) {
  require(x.rank() >= 2 && x.dim(-1) == projection.weight.dim(0), op, "expects (..., time, ",
          projection.weight.dim(0), "): got shape ", x.shape());
}

}  // namespace

AttentionOutput attend(const Tensor& q, const Tensor& k, const Tensor& v, Dim heads,
                       const Mask& mask) {
  require(q.rank() >= 2 && k.shape() == v.shape() && q.dim(-1) == k.dim(-1), "attend",
          "needs q (..., T, C) and k, v (..., S, C): got ", q.shape(), ", ", k.shape(), ", ",
          v.shape());
  require(q.rank() == k.rank() &&
              q.shape().without(-1).without(-1) == k.shape().without(-1).without(-1),
          "attend", "needs the same leading axes: ", q.shape(), " and ", k.shape());
  require_heads("attend", q.dim(-1), heads);
  const Tensor Q = split_heads(q, heads);  // (…, H, T, D)
  const Tensor K = split_heads(k, heads);  // (…, H, S, D)
  const Tensor V = split_heads(v, heads);

  const double scale = 1 / std::sqrt(static_cast<double>(Q.dim(-1)));
  const Tensor scores = attention_scores(Q, K, mask) * scale;  // (…, H, T, S), −∞ where hidden
  const Tensor rows = softmax(scores, mask);                   // each row sums to 1
  // The output is computed from the very tensor that is returned: keep_grad() then works on it.
  const bool one = q.rank() == 2;
  const Tensor weights = one ? reshape(rows, rows.shape().without(0)) : rows;
  const Tensor mixed = weighted_sum(one ? reshape(weights, rows.shape()) : weights, V, mask);
  return {merge_heads(mixed, q.shape()), weights};  // mixed (…, H, T, D)
}

Attention::Attention(Dim width, Dim head_count, InitialWeights initial, Bias bias)
    : heads(require_heads("Attention", width, head_count)),
      c_attn(width, 3 * width, initial, bias),
      c_proj(width, width, initial, bias) {}

Tensor Attention::qkv(const Tensor& x) const {
  require_features("Attention", x, c_attn);
  if (scale == Scale::root) return c_attn(x);
  const Dim C = x.dim(-1), D = C / heads;
  Array factors = Array::ones({3 * C});
  std::fill_n(factors.write(), C, Real(std::sqrt(static_cast<double>(D))));
  return c_attn(x) * Tensor(factors);
}

Tensor Attention::operator()(const Tensor& x, const Mask& mask) const {
  if (!mask.has_spans()) return forward_with_weights(x, mask).output;
  return c_proj(attention(qkv(x), heads, mask));
}

Tensor Attention::operator()(const Tensor& x, KeyValueCache& cache) const {
  return c_proj(cached_attention(qkv(x).value(), heads, cache));
}

AttentionOutput Attention::forward_with_weights(const Tensor& x, const Mask& mask) const {
  const std::vector<Tensor> parts = split(qkv(x), 3, -1);  // three of (…, T, C)
  const AttentionOutput attended = attend(parts[0], parts[1], parts[2], heads, mask);
  return {c_proj(attended.output), attended.weights};
}

CrossAttention::CrossAttention(Dim width, Dim source_width, Dim head_count, InitialWeights initial,
                               Bias bias)
    : heads(require_heads("CrossAttention", width, head_count)),
      q_attn(width, width, initial, bias),
      c_attn(source_width, 2 * width, initial, bias),
      c_proj(width, width, initial, bias) {}

CrossAttention::Inputs CrossAttention::inputs(const Tensor& x, const Tensor& source) const {
  require_features("CrossAttention", x, q_attn);
  require_features("CrossAttention source", source, c_attn);
  const std::vector<Tensor> kv = split(c_attn(source), 2, -1);  // two of (…, S, C)
  return {q_attn(x), kv[0], kv[1]};
}

Tensor CrossAttention::operator()(const Tensor& x, const Tensor& source, const Mask& mask) const {
  if (!mask.has_spans()) return forward_with_weights(x, source, mask).output;
  const auto [q, k, v] = inputs(x, source);
  return c_proj(attention(q, k, v, heads, mask));
}

AttentionOutput CrossAttention::forward_with_weights(const Tensor& x, const Tensor& source,
                                                     const Mask& mask) const {
  const auto [q, k, v] = inputs(x, source);
  const AttentionOutput attended = attend(q, k, v, heads, mask);
  return {c_proj(attended.output), attended.weights};
}

}  // namespace fledge
