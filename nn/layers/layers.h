// The layers of a block but attention: a formula and its shapes each. Their names are GPT-2's.
#pragma once

#include <cmath>

#include "nn/module.h"

namespace fledge {

/// The initial weights of a layer: random, or not written yet. Linear(3, 4, rng) draws random
/// weights: a generator converts to InitialWeights.
class InitialWeights {
 public:
  InitialWeights(Rng& rng) : rng_(&rng) {}  // NOLINT(google-explicit-constructor)
  /// Memory without values, for weights that are then read from a file.
  static InitialWeights none() { return InitialWeights(nullptr); }

  /// The generator; null for none().
  Rng* rng() const { return rng_; }
  Array uniform(const Shape& shape, double low, double high) const {
    return rng_ ? random_uniform(shape, low, high, *rng_) : Array(shape);
  }
  Array normal(const Shape& shape, double mean, double deviation) const {
    return rng_ ? random_normal(shape, mean, deviation, *rng_) : Array(shape);
  }

 private:
  explicit InitialWeights(std::nullptr_t) {}
  Rng* rng_ = nullptr;
};

enum class Bias { with, without };

/// y = x·W + b           x (…, n, in)   W (in, out)   b (out)   y (…, n, out)
///
/// Initial W: uniform in ±√(3/in), with variance 1/in, so that y has the variance of x (LeCun et
/// al. 1998, section 4.6). Initial b: 0.
struct Linear {
  Tensor weight, bias;

  Linear() = default;  // of a part that a model does not have
  Linear(Dim in, Dim out, InitialWeights initial, Bias with_bias = Bias::with) {
    require<ValueError>(in > 0 && out > 0, "Linear", "sizes must be positive: got ", in, " and ",
                        out);
    const double bound = std::sqrt(3.0 / static_cast<double>(in));
    weight = parameter(initial.uniform({in, out}, -bound, bound));
    if (with_bias == Bias::with) bias = parameter(Array::zeros({out}));
  }

  Tensor operator()(const Tensor& x) const {
    require(x.rank() >= 2 && x.dim(-1) == weight.dim(0), "Linear", "expects (..., n, ",
            weight.dim(0), ") for a weight of shape ", weight.shape(), ": got shape ", x.shape());
    return linear(x, weight, bias);
  }

  void visit(auto&& f) const { f("weight", weight), f("bias", bias); }
};

/// y_i = weight[ids_i]   ids (…)   weight (V, C)   y (…, C)    initial weight: normal(0, deviation)
struct Embedding {
  Tensor weight;

  Embedding() = default;  // of a part that a model does not have
  Embedding(Dim vocabulary, Dim width, InitialWeights initial,
            double deviation = 0.02) {  // 0.02: GPT-2's
    require<ValueError>(vocabulary > 0 && width > 0, "Embedding", "sizes must be positive: got ",
                        vocabulary, " and ", width);
    weight = parameter(initial.normal({vocabulary, width}, 0, deviation));
  }

  Tensor operator()(const Indices& ids) const { return embedding(weight, ids); }

  void visit(auto&& f) const { f("weight", weight); }
};

enum class Norm { none, layer, rms };

/// y = weight ⊙ (x − mean)/√(variance + eps) + bias over the last axis    (Ba, Kiros & Hinton 2016)
/// x, y (…, C)
///
/// With Norm::rms, y = weight ⊙ x/√(mean(x²) + eps) (Zhang & Sennrich 2019), and there is no bias.
/// Initial weight (the gain): 1. Initial bias: 0. With Norm::none, y = x.
struct LayerNorm {
  Tensor weight, bias;
  double eps;
  Norm norm;

  explicit LayerNorm(Dim width, double epsilon = 1e-5, Norm form = Norm::layer)
      : eps(epsilon), norm(form) {
    require<ValueError>(width > 0, "LayerNorm", "the width must be positive: got ", width);
    weight = parameter(Array::ones({width}));
    if (norm != Norm::rms) bias = parameter(Array::zeros({width}));
  }

  Tensor operator()(const Tensor& x) const {
    if (norm == Norm::none) return x;
    return norm == Norm::rms ? rms_norm(x, weight, eps) : layer_norm(x, weight, bias, eps);
  }

  void visit(auto&& f) const { f("weight", weight), f("bias", bias); }
};

/// Training: 0 with probability p, else x / (1 − p). Evaluation: x.        (Srivastava et al. 2014)
struct Dropout {
  double p;

  explicit Dropout(double probability) : p(probability) {
    require<ValueError>(p >= 0 && p < 1, "Dropout", "the probability must be in [0, 1): got ", p);
  }

  Tensor operator()(const Tensor& x, Mode mode) const {
    return mode.dropout() != nullptr ? dropout(x, p, *mode.dropout()) : x;
  }

  void visit(auto&&) const {}
};

/// The form of an MLP: none adds nothing (gpt/recipe.h), gelu and gelu_tanh are those of ops.h.
enum class FeedForward {
  none,
  gelu_tanh,  // GPT-2's own
  gelu,
  swiglu,       // h = silu(x·W_gate + b_gate) ⊙ (x·W₁ + b₁)       Shazeer 2020
  relu_squared  // h = max(x·W₁ + b₁, 0)²                          So et al. 2021
};

/// h = gelu(x·W₁ + b₁),   y = h·W₂ + b₂        x (…, width)   h (…, hidden)   y (…, width)
///                                                                 Vaswani et al. 2017, section 3.3
/// FeedForward::none computes as gelu_tanh: the model holds W₂ and b₂ at 0.
struct MLP {
  Linear c_gate, c_fc, c_proj;  // only swiglu has a gate
  FeedForward form;

  MLP(Dim width, Dim hidden, InitialWeights initial, Bias bias = Bias::with,
      FeedForward hidden_form = FeedForward::gelu_tanh)
      : c_fc(width, hidden, initial, bias),
        c_proj(hidden, width, initial, bias),
        form(hidden_form) {
    if (form == FeedForward::swiglu) c_gate = Linear(width, hidden, initial, bias);
  }

  Tensor operator()(const Tensor& x) const {
    const Tensor sums = c_fc(x);
    if (form == FeedForward::swiglu) return c_proj(silu(c_gate(x)) * sums);
    if (form == FeedForward::gelu) return c_proj(gelu(sums));
    if (form != FeedForward::relu_squared) return c_proj(gelu_tanh(sums));
    const Tensor positive = relu(sums);
    return c_proj(positive * positive);
  }

  void visit(auto&& f) const { f("c_gate", c_gate), f("c_fc", c_fc), f("c_proj", c_proj); }
};

}  // namespace fledge
