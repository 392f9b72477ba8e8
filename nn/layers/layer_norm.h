// Layer normalisation as a layer (Ba, Kiros & Hinton 2016).
#pragma once

#include "engine/base/errors.h"
#include "nn/module.h"

namespace fledge {

/// y = weight ⊙ (x − mean)/√(variance + eps) + bias over the last axis.   x, y (…, C)
///
/// Initial weight (the gain): 1. Initial bias: 0. The names are GPT-2's.
struct LayerNorm {
  Tensor weight, bias;
  double eps;
  bool normalises = true;  // false: y = x (Without::norm)

  explicit LayerNorm(Dim width, double epsilon = 1e-5) : eps(epsilon) {
    require<ValueError>(width > 0, "LayerNorm", "the width must be positive: got ", width);
    weight = parameter(Array::ones({width}));
    bias = parameter(Array::zeros({width}));
  }

  Tensor operator()(const Tensor& x) const {
    return normalises ? layer_norm(x, weight, bias, eps) : x;
  }

  void visit(auto&& f) const {
    f("weight", weight);
    f("bias", bias);
  }
};

}  // namespace fledge
