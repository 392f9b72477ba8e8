// AdamW: Adam with the weight decay separate from the moments (Kingma & Ba 2015, algorithm 1;
// Loshchilov & Hutter 2019, algorithm 2).
#pragma once

#include "nn/optim/optimizer.h"

namespace fledge {

struct AdamWOptions {
  double rate = 1e-3;
  double beta1 = 0.9;    // β₁, of the mean gradient
  double beta2 = 0.999;  // β₂, of the mean square
  double eps = 1e-8;     // outside the root
  double decay = 1e-2;   // weight decay
};

/// θ ← θ·(1 − rate·decay)
/// m ← β₁·m + (1 − β₁)·g        v ← β₂·v + (1 − β₂)·g²
/// θ ← θ − rate·m̂ / (√v̂ + eps),   m̂ = m/(1 − β₁ᵗ),  v̂ = v/(1 − β₂ᵗ)
/// where t = 1, 2, … counts the gradients of this parameter.
class AdamW {
 public:
  /// `decay_factors` has one number per parameter, which multiplies options.decay; empty: all are
  /// 1. Throws ValueError for a rate, eps or decay that is negative or not finite, eps = 0, a rate
  /// or decay too large for the number type, a β outside [0, 1), a factor outside [0, 1], a wrong number of factors, a constant among the
  /// parameters, or one parameter twice.
  AdamW(std::vector<Tensor> parameters, AdamWOptions options,
        std::vector<double> decay_factors = {});

  /// Updates every parameter that has a gradient. Throws NumericError if a gradient or its square
  /// is not finite, and GraphError if a graph or another Array holds the numbers of a parameter.
  /// After an exception nothing has changed.
  void step();
  void zero_grad() const { fledge::zero_grad(parameters_); }

  std::vector<Moments> moments() const;
  /// Throws ValueError or ShapeError, and changes nothing, unless there is one element for
  /// each parameter, with moments of its shape.
  void restore(const std::vector<Moments>& moments);

  AdamWOptions options;  // may be changed between steps

 private:
  std::vector<Tensor> parameters_;
  std::vector<double> decay_factors_;  // of each parameter
  std::vector<Moments> moments_;       // of each parameter
};

}  // namespace fledge
