// The linear layer.
#pragma once

#include <cmath>

#include "engine/base/errors.h"
#include "nn/layers/initial_weights.h"
#include "nn/module.h"

namespace fledge {

enum class Bias { with, without };

/// y = x·W + b           x (…, n, in)   W (in, out)   b (out)   y (…, n, out)
///
/// Initial W: uniform in ±√(3/in), with variance 1/in, so that y has the variance of x (LeCun et
/// al. 1998, section 4.6). Initial b: 0.
struct Linear {
  Tensor weight, bias;

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

  void visit(auto&& f) const {
    f("weight", weight);
    f("bias", bias);
  }
};

}  // namespace fledge
