// Dropout as a layer (Srivastava et al. 2014).
#pragma once

#include "engine/base/errors.h"
#include "nn/module.h"

namespace fledge {

/// Training: 0 with probability p, else x / (1 − p). Evaluation: x.
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

}  // namespace fledge
