#include "nn/layers/attention.h"

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
  return reshape(transpose(x, -3, -2), shape);
}

/// (…, T, n·D) -> (…, T, n, D)
Shape by_heads(const Shape& shape, Dim n) {
  return shape.without(-1).append({n, shape[shape.rank() - 1] / n});
}

void require_features(const char* op, const Tensor& x, const Linear& projection) {
  require(x.rank() >= 2 && x.dim(-1) == projection.weight.dim(0), op, "expects (..., time, ",
          projection.weight.dim(0), "): got shape ", x.shape());
}

}  // namespace

Tensor keys_of_heads(const Tensor& x, HeadCount heads) {
  require_heads("keys_of_heads", x.rank() > 0 ? x.dim(-1) : 0, heads.keys);
  if (heads.keys == heads.queries) return x;
  const Dim D = x.dim(-1) / heads.keys;
  std::vector<Tensor> own;
  for (Dim h = 0; h < heads.queries; ++h) {
    const Dim g = h * heads.keys / heads.queries;
    own.push_back(slice(x, -1, g * D, (g + 1) * D));
  }
  return concat(own, -1);
}

Tensor softmax_with_sink(const Tensor& scores, const Mask& mask, const Tensor& sink) {
  require(scores.rank() >= 3, "softmax_with_sink", "needs scores (..., H, T, S): got shape ",
          scores.shape());
  require_sink("softmax_with_sink", sink, scores.dim(-3));
  const VisibleTable table = mask.table(scores.shape(), "attend");
  const Array visible(scores.shape(), {table.begin(), table.end()});
  const Tensor shown = where(visible, scores, -infinity);
  // (…, H, T, 1). A row without keys needs one finite score. Elsewhere a sink of −∞ is none.
  const Array sees_some = sum(Tensor(visible), {-1}, true).value();
  const Tensor column = maximum(reshape(sink, {sink.size(), 1, 1}),
                                where(sees_some, Tensor(-infinity), Tensor(-1e30)));
  return slice(softmax(concat({shown, column}, -1)), -1, 0, scores.dim(-1));
}

AttentionOutput attend(const Tensor& q, const Tensor& k, const Tensor& v, HeadCount heads,
                       const Mask& mask, const AttendOptions& options, const Tensor& sink) {
  require_q_k_v("attend", q.shape(), k.shape(), v.shape(), heads);
  require_heads("attend", q.dim(-1), heads.queries);
  require_sink("attend", sink, heads.queries);
  const Dim H = heads.queries;
  const Tensor Q = split_heads(q, H);                        // (…, H, T, D)
  const Tensor K = split_heads(keys_of_heads(k, heads), H);  // (…, H, S, D)
  const Tensor V = split_heads(keys_of_heads(v, heads), H);

  const double scale = 1 / std::sqrt(static_cast<double>(Q.dim(-1)));
  const Tensor scaled = attention_scores(Q, K, mask) * scale;  // (…, H, T, S), −∞ where hidden
  const Tensor& bias = options.bias;
  if (bias.exists())
    require(common_shape(bias.shape(), scaled.shape()) == scaled.shape(), "attend",
            "needs a bias that broadcasts to ", scaled.shape(), ": got ", bias.shape());
  const Tensor scores = bias.exists() ? scaled + bias : scaled;
  // Each row sums to 1, or to less with a sink.
  const Tensor rows = sink.exists() ? softmax_with_sink(scores, mask, sink) : softmax(scores, mask);
  // The output is computed from the very tensor that is returned: keep_grad() then works on it.
  const bool one = q.rank() == 2;
  const Tensor weights = one ? reshape(rows, rows.shape().without(0)) : rows;
  const Tensor kept = options.dropout(weights, options.mode);
  const Tensor mixed = weighted_sum(one ? reshape(kept, rows.shape()) : kept, V, mask);
  return {merge_heads(mixed, q.shape()), weights};  // mixed (…, H, T, D)
}

Attention::Attention(Dim width, HeadCount head_count, InitialWeights initial, Bias bias)
    : heads(head_count),
      c_attn(width,
             width + 2 * (width / require_heads("Attention", width, heads.queries) * heads.keys),
             initial, bias),
      c_proj(width, width, initial, bias) {}

Tensor Attention::qkv(const Tensor& x, Dim first, const std::vector<Dim>& lengths) const {
  require_features("Attention", x, c_attn);
  const Dim qk = x.dim(-1) + key_width(), D = x.dim(-1) / heads.queries;
  const Dim count = heads.queries + heads.keys;
  require<ValueError>(rotary_base == 0 || D % 2 == 0, "Attention",
                      "rotary positions need an even head size, width / heads: got ", x.dim(-1),
                      " / ", heads.queries, "; use other heads, or rotary_base = 0");
  Tensor y = c_attn(x);
  if (qk_norm == QueryKeyNorm::rms) {
    const Tensor both = slice(y, -1, 0, qk), v = slice(y, -1, qk, y.dim(-1));
    const Tensor unit = rms_norm(reshape(both, by_heads(both.shape(), count)), Array::ones({D}));
    y = concat({reshape(unit, both.shape()), v}, -1);
  }
  if (scale == Scale::none) {
    Array factors = Array::ones({y.dim(-1)});
    std::fill_n(factors.write(), x.dim(-1), Real(std::sqrt(static_cast<double>(D))));
    y = y * Tensor(factors);
  }
  return rotary_base != 0 ? rotate(y, D, count, first, rotary_base, lengths) : y;
}

// With u = v̂·√D, which is 0 where v is 0, (y·v̂)v̂ is u·mean(u ⊙ y).
Tensor Attention::passed(const Tensor& mixed, const Tensor& qkv) const {
  if (exclusive == Exclusive::none) return mixed;
  const Shape shape = by_heads(mixed.shape(), heads.queries);
  const Tensor y = reshape(mixed, shape), v = reshape(keys_of_heads(q_k_v(qkv)[2], heads), shape);
  const Tensor u = rms_norm(v, Array::ones({shape.dim(-1)}), 1e-30);
  return reshape(y - u * mean(u * y, {-1}, true), mixed.shape());
}

std::vector<Tensor> Attention::q_k_v(const Tensor& qkv) const {
  const Dim k = c_proj.weight.dim(0), v = k + key_width();
  return {slice(qkv, -1, 0, k), slice(qkv, -1, k, v), slice(qkv, -1, v, qkv.dim(-1))};
}

Tensor Attention::operator()(const Tensor& x, const Mask& mask) const {
  if (!mask.has_spans()) return forward_with_weights(x, mask).output;
  const Tensor all = qkv(x, 0, mask.document_lengths());
  return c_proj(passed(attention(all, heads, mask, sink), all));
}

Tensor Attention::operator()(const Tensor& x, KeyValueCache& cache, const Mask& mask) const {
  require<ValueError>(mask.document_lengths().empty(), "Attention",
                      "a cache holds one document: got a mask of ", mask.document_lengths().size());
  const Tensor all = qkv(x, cache.length);
  return c_proj(passed(cached_attention(all.value(), heads, cache, mask, sink), all));
}

AttentionOutput Attention::forward_with_weights(const Tensor& x, const Mask& mask,
                                                const AttendOptions& options) const {
  const Tensor all = qkv(x, 0, mask.document_lengths());
  const std::vector<Tensor> parts = q_k_v(all);
  const AttentionOutput attended = attend(parts[0], parts[1], parts[2], heads, mask, options, sink);
  return {c_proj(passed(attended.output, all)), attended.weights};
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
