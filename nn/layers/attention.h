// Self-attention and cross attention. A query q is compared with all keys k; the values v are
// averaged with the resulting weights.
//
// B batch, T time (queries), S source (keys), C channels, H heads, D = C / H.
#pragma once

#include "engine/ops/cached_attention.h"
#include "nn/layers/layers.h"

namespace fledge {

/// The output, and the attention weights (…, H, T, S). Each row of weights sums to 1 over the keys,
/// to less with a sink, or is all zeros if the mask hides all keys.
struct AttentionOutput {
  Tensor output, weights;
};

/// What attention with its weights may do besides.
struct AttendOptions {
  Tensor bias = {};    // added to the scores; broadcasts to (…, H, T, S)
  Dropout dropout{0};  // of the weights, in a mode that trains; those returned are from before it
  Mode mode = Mode::evaluation();
};

/// softmax(Q·Kᵀ/√D + bias over what the mask shows)·V, per head. Vaswani et al. 2017, eq. 1
/// q (…, T, H·D)   k, v (…, S, G·D)   output (…, T, H·D)   weights (…, H, T, S)
/// Heads that share keys, and a sink (H), one more score of each head: ops.h, attention.
///
/// The output is computed from the returned weights, so weights.keep_grad() keeps their gradient.
/// Throws ValueError if the number of heads does not divide C, and ShapeError for shapes that do
/// not match.
AttentionOutput attend(const Tensor& q, const Tensor& k, const Tensor& v, HeadCount heads,
                       const Mask& mask, const AttendOptions& options = {},
                       const Tensor& sink = {});
/// (…, T, G·D) -> (…, T, H·D): for each head of queries the keys, or the values, it looks at.
Tensor keys_of_heads(const Tensor& x, HeadCount heads);
/// Softmax of scores (…, H, T, S) over what the mask shows and one score more, that of the sink (H).
/// The weight of the sink is left out. Hidden scores are not read.
Tensor softmax_with_sink(const Tensor& scores, const Mask& mask, const Tensor& sink);

/// What the scores are divided by.
enum class Scale { none, root };  // nothing; √D
/// Whether each query and each key is divided by the root of its mean square. Then no score exceeds
/// √D.                                      Henry et al. 2020, here with RMS norm and without a gain
enum class QueryKeyNorm { none, rms };
/// Exclusive self-attention: a head gives y − (y·v̂)v̂, v̂ = v/‖v‖, v the value of the position.
/// So a head brings only what other positions have.                                     Zhai 2026
enum class Exclusive { none, own_value };

/// Self-attention, one head or many.       x (…, T, C)   mask over T × T   y (…, T, C)
///
/// c_attn computes q, k and v in one product: W (C, (H + 2G)·D) has three parts side by side, and
/// each part has one head after the other: H of queries, G of keys and of values. The part for v is
/// the "value-down" of every head, C -> D. c_proj is the "value-up" of all heads, C -> C:
/// y = Σ_h mixed_h·Up_h = [mixed_1 … mixed_H]·c_proj. Names: GPT-2's.
struct Attention {
  HeadCount heads;
  Linear c_attn, c_proj;
  Scale scale = Scale::root;
  Tensor sink = {};  // (H), or none
  QueryKeyNorm qk_norm = QueryKeyNorm::none;
  Exclusive exclusive = Exclusive::none;
  double rotary_base = 0;  // of rotary positions (ops.h, rotate); 0: none

  Attention(Dim width, HeadCount head_count, InitialWeights initial, Bias bias = Bias::with);

  /// c_attn(x), q, k and v side by side; then the norm of q and k, and their rotation by the
  /// positions first, first + 1, … of each document. With Scale::none, q is multiplied by √D, because
  /// all that computes scores divides them by √D. Throws ShapeError unless x is (…, T, C), and with
  /// rotary positions ValueError for an odd D, a base below 1 and first < 0, and ShapeError for lengths
  /// that do not make T together (ops.h, rotate).
  Tensor qkv(const Tensor& x, Dim first = 0, const std::vector<Dim>& lengths = {}) const;
  /// The parts of what qkv() returned: q (…, T, C), k and v (…, T, G·D).
  std::vector<Tensor> q_k_v(const Tensor& qkv) const;
  Dim key_width() const { return c_proj.weight.dim(0) / heads.queries * heads.keys; }  // G·D
  /// What the heads pass on of the weighted sums of values, mixed (…, T, C): all, or what `exclusive`
  /// leaves of it. `qkv` is what qkv() returned.
  Tensor passed(const Tensor& mixed, const Tensor& qkv) const;

  /// Uses one fused op that stores no weights (ops.h, attention). For custom masks, it uses
  /// forward_with_weights(). Positions begin anew in each document of the mask.
  Tensor operator()(const Tensor& x, const Mask& mask = {}) const;
  /// The same step by step, with the weights: the five lines of attend().
  AttentionOutput forward_with_weights(const Tensor& x, const Mask& mask = {},
                                       const AttendOptions& options = {}) const;
  /// Causal attention of x (T, C), which follows the tokens in the cache; the mask may hide further
  /// keys. The cache holds keys as qkv() returns them, each rotated once. Records no gradient. Throws
  /// ValueError for a mask of documents.
  Tensor operator()(const Tensor& x, KeyValueCache& cache, const Mask& mask = causal()) const;

  void visit(auto&& f) const { f("c_attn", c_attn), f("c_proj", c_proj), f("sink", sink); }
};

/// Cross attention: queries from x, keys and values from a source.
///                                                               Vaswani et al. 2017, section 3.2.3
/// x (…, T, C)   source (…, S, source_width)   mask over T × S   y (…, T, C)
struct CrossAttention {
  Dim heads;
  Linear q_attn, c_attn, c_proj;  // queries; keys and values side by side; value-up

  CrossAttention(Dim width, Dim source_width, Dim head_count, InitialWeights initial,
                 Bias bias = Bias::with);

  /// Uses one fused op that stores no weights (ops.h, attention). For custom masks, it uses
  /// forward_with_weights().
  Tensor operator()(const Tensor& x, const Tensor& source, const Mask& mask = {}) const;
  /// The same step by step, with the weights.
  AttentionOutput forward_with_weights(const Tensor& x, const Tensor& source,
                                       const Mask& mask = {}) const;

  void visit(auto&& f) const { f("q_attn", q_attn), f("c_attn", c_attn), f("c_proj", c_proj); }

 private:
  struct Inputs {
    Tensor q, k, v;
  };
  Inputs inputs(const Tensor& x, const Tensor& source) const;
};

}  // namespace fledge
