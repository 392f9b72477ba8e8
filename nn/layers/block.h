// One transformer block: attention, then MLP, each with a residual connection.
#pragma once

#include "nn/layers/attention.h"
#include "nn/layers/dropout.h"
#include "nn/layers/layer_norm.h"
#include "nn/layers/mlp.h"
#include "nn/variant.h"

namespace fledge {

/// x ← x + attn(ln_1(x)),  then  x ← x + mlp(ln_2(x)):  normalise, compute, add
/// (Radford et al. 2019). x, y (…, T, C)
///
/// Without residual: x ← attn(ln_1(x)),  then  x ← mlp(ln_2(x)).
struct Block {
  LayerNorm ln_1;
  Attention attn;
  LayerNorm ln_2;
  MLP mlp;
  Dropout dropout;
  bool has_residual = true;

  Block(Dim width, Dim heads, Dim hidden, InitialWeights initial, double dropout_p = 0,
        Bias bias = Bias::with, const Without& without = {})
      : ln_1(width),
        attn(width, heads, initial, bias),
        ln_2(width),
        mlp(width, hidden, initial, bias),
        dropout(dropout_p),
        has_residual(!without.residual) {
    ln_1.normalises = ln_2.normalises = !without.norm;
    attn.is_scaled = !without.scale;
  }

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
  Tensor operator()(const Tensor& x, KeyValueCache& cache) const {
    return add_residuals(x, attn(ln_1(x), cache));
  }

  /// What follows attention: both sums, and the MLP between them.
  Tensor add_residuals(const Tensor& x, const Tensor& attended,
                       Mode mode = Mode::evaluation()) const {
    if (!has_residual) return dropout(mlp(ln_2(dropout(attended, mode))), mode);
    const Tensor seen = x + dropout(attended, mode);
    return seen + dropout(mlp(ln_2(seen)), mode);
  }

  void visit(auto&& f) const {
    f("ln_1", ln_1);
    f("attn", attn);
    f("ln_2", ln_2);
    f("mlp", mlp);
  }
};

}  // namespace fledge
