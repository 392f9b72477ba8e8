// The multi-layer perceptron of a block.
#pragma once

#include "nn/layers/linear.h"

namespace fledge {

/// Both forms of gelu (ops.h).
enum class Activation {
  gelu_tanh,  // GPT-2's own
  gelu
};

/// h = gelu(x·W₁ + b₁),   y = h·W₂ + b₂        x (…, width)   h (…, hidden)   y (…, width)
///
/// The names are GPT-2's.                                          Vaswani et al. 2017, section 3.3
struct MLP {
  Linear c_fc, c_proj;
  Activation activation = Activation::gelu_tanh;

  MLP(Dim width, Dim hidden, InitialWeights initial, Bias bias = Bias::with)
      : c_fc(width, hidden, initial, bias), c_proj(hidden, width, initial, bias) {}

  Tensor operator()(const Tensor& x) const {
    const Tensor sums = c_fc(x);
    return c_proj(activation == Activation::gelu ? gelu(sums) : gelu_tanh(sums));
  }

  void visit(auto&& f) const {
    f("c_fc", c_fc);
    f("c_proj", c_proj);
  }
};

}  // namespace fledge
