// Stochastic gradient descent with momentum (Polyak 1964).
#pragma once

#include "nn/optim/optimizer.h"

namespace fledge {

struct SgdOptions {
  double rate = 0.1;
  double momentum = 0;  // in [0, 1)
};

/// v ← momentum·v + g,   θ ← θ − rate·v           the first v is g; momentum 0 is plain descent
class Sgd {
 public:
  /// Throws ValueError for a rate that is negative or not finite, a momentum outside [0, 1), a
  /// constant among the parameters, or one parameter twice.
  Sgd(std::vector<Tensor> parameters, SgdOptions options);

  /// Updates every parameter that has a gradient. Throws NumericError, and changes nothing, if a
  /// gradient is not finite.
  void step();
  void zero_grad() const { fledge::zero_grad(parameters_); }

  SgdOptions options;  // may be changed between steps

 private:
  std::vector<Tensor> parameters_;
  std::vector<Array> velocity_;
};

}  // namespace fledge
