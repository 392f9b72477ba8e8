// One transformer block: attention, then MLP, each with a residual connection.
#pragma once

#include "nn/layers/attention.h"

namespace fledge {

enum class Residual { none, add };

/// x ← x + attn(ln_1(x)),  then  x ← x + mlp(ln_2(x)):  normalise, compute, add
/// (Radford et al. 2019). x, y (…, T, C)
///
/// With Residual::none: x ← attn(ln_1(x)),  then  x ← mlp(ln_2(x)).
struct Block {
  LayerNorm ln_1;
  Attention attn;
  LayerNorm ln_2;
  MLP mlp;
  Dropout dropout;
  Residual residual = Residual::add;

  Block(Dim width, HeadCount heads, Dim hidden, InitialWeights initial, double dropout_p = 0,
        Bias bias = Bias::with, Norm norm = Norm::layer, FeedForward form = FeedForward::gelu_tanh)
      : ln_1(width, 1e-5, norm),
        attn(width, heads, initial, bias),
        ln_2(width, 1e-5, norm),
        mlp(width, hidden, initial, bias, form),
        dropout(dropout_p) {}

  Tensor operator()(const Tensor& x, const Mask& mask = {}, Mode mode = Mode::evaluation()) const {
    return add_residuals(x, attn(ln_1(x), mask), mode);
  }

  /// The same, and the attention weights.
  AttentionOutput forward_with_weights(const Tensor& x, const Mask& mask = {},
                                       Mode mode = Mode::evaluation()) const {
    const auto [attended, weights] = attn.forward_with_weights(ln_1(x), mask);
    return {add_residuals(x, attended, mode), weights};
  }

  /// Causal attention of x (T, C), which follows the tokens in the cache. Records no gradient.
  Tensor operator()(const Tensor& x, KeyValueCache& cache, const Mask& mask = causal()) const {
    return add_residuals(x, attn(ln_1(x), cache, mask));
  }

  /// What follows attention: both sums, and the MLP between them.
  Tensor add_residuals(const Tensor& x, const Tensor& attended,
                       Mode mode = Mode::evaluation()) const {
    if (residual == Residual::none) return dropout(mlp(ln_2(dropout(attended, mode))), mode);
    const Tensor seen = x + dropout(attended, mode);
    return seen + dropout(mlp(ln_2(seen)), mode);
  }

  void visit(auto&& f) const { f("ln_1", ln_1), f("attn", attn), f("ln_2", ln_2), f("mlp", mlp); }
};

}  // namespace fledge
