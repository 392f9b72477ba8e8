// The multi-layer perceptron of a block.
#pragma once

#include "nn/layers/linear.h"

namespace fledge {

/// h = gelu(x·W₁ + b₁),   y = h·W₂ + b₂        x (…, width)   h (…, hidden)   y (…, width)
///
/// The gelu is GPT-2's (its tanh form), and so are the names.      Vaswani et al. 2017, section 3.3
struct MLP {
  Linear c_fc, c_proj;

  MLP(Dim width, Dim hidden, InitialWeights initial, Bias bias = Bias::with)
      : c_fc(width, hidden, initial, bias), c_proj(hidden, width, initial, bias) {}

  Tensor operator()(const Tensor& x) const { return c_proj(gelu_tanh(c_fc(x))); }

  void visit(auto&& f) const {
    f("c_fc", c_fc);
    f("c_proj", c_proj);
  }
};

}  // namespace fledge
