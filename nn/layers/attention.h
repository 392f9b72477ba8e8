// Self-attention and cross attention. A query q is compared with all keys k; the values v are
// averaged with the resulting weights.
//
// B batch, T time (queries), S source (keys), C channels, H heads, D = C / H.
#pragma once

#include "engine/ops/cached_attention.h"
#include "nn/layers/layers.h"

namespace fledge {

/// The output, and the attention weights (…, H, T, S). Each row of weights sums to 1 over the keys,
/// or is all zeros if the mask hides all keys.
struct AttentionOutput {
  Tensor output, weights;
};

/// softmax(Q·Kᵀ/√D over what the mask shows)·V, per head.        Vaswani et al. 2017, eq. 1
/// q (…, T, H·D)   k, v (…, S, H·D)   output (…, T, H·D)   weights (…, H, T, S)
///
/// The output is computed from the returned weights, so weights.keep_grad() keeps their gradient.
/// Throws ValueError if the number of heads does not divide C, and ShapeError for shapes that do
/// not match.
AttentionOutput attend(const Tensor& q, const Tensor& k, const Tensor& v, Dim heads,
                       const Mask& mask);

/// What the scores are divided by.
enum class Scale { none, root };  // nothing; √D

/// Self-attention, one head or many.       x (…, T, C)   mask over T × T   y (…, T, C)
///
/// c_attn computes q, k and v in one product: W (C, 3C) has three parts side by side, and each part
/// has one head after the other. The part for v is the "value-down" of every head, C -> D. c_proj
/// is the "value-up" of all heads, C -> C: y = Σ_h mixed_h·Up_h = [mixed_1 … mixed_H]·c_proj.
/// Names: GPT-2's.
struct Attention {
  Dim heads;
  Linear c_attn, c_proj;
  Scale scale = Scale::root;

  Attention(Dim width, Dim head_count, InitialWeights initial, Bias bias = Bias::with);

  /// c_attn(x): q, k and v side by side. With Scale::none, q is multiplied by √D, because all that
  /// computes scores divides them by √D.
  Tensor qkv(const Tensor& x) const;

  /// Uses one fused op that stores no weights (ops.h, attention). For custom masks, it uses
  /// forward_with_weights().
  Tensor operator()(const Tensor& x, const Mask& mask = {}) const;
  /// The same step by step, with the weights: the five lines of attend().
  AttentionOutput forward_with_weights(const Tensor& x, const Mask& mask = {}) const;
  /// Causal attention of x (T, C), which follows the tokens in the cache. Records no gradient.
  Tensor operator()(const Tensor& x, KeyValueCache& cache) const;

  void visit(auto&& f) const { f("c_attn", c_attn), f("c_proj", c_proj); }
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
