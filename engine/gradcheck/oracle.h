// The oracles: a derivative of ⟨v, f()⟩ obtained without any backward pass.
//
// Used by gradcheck alone. fledge64: six-point differences. fledge_dual: one dual forward pass.
#pragma once

#include <functional>
#include <vector>

#include "engine/tensor.h"

namespace fledge {

/// ∂⟨v, y⟩/∂x_j.
struct Derivative {
  double value = 0;
  double scale = 0;     // Σ_i |v_i|·|∂y_i/∂x_j|: the size of what was summed
  double size = 0;      // Σ_i |v_i·y_i|: what rounding errors are relative to
  double rounding = 0;  // what rounding of the y_i may have added to the value (differences only)
  double noise = 0;     // a derivative below it is zero but for rounding, beside y of this size
  bool settled = true;  // false: no step size gave an answer that the next smaller one confirmed
};

class Oracle {
 public:
  /// f() is evaluated, v has the shape of its value; `tolerance` is the accuracy asked for.
  Oracle(std::function<Tensor()> f, Array v, double tolerance)
      : f_(std::move(f)), v_(std::move(v)), tolerance_(tolerance) {}

  /// The derivative with respect to element j of a parameter of f. `claimed` is what backward()
  /// says: differences take more care, with smaller steps, where the first answer does not confirm
  /// it.
  Derivative at(const Tensor& parameter, Dim j, double claimed) const;

 private:
  Derivative difference(const Tensor& parameter, Dim j, double h) const;
  double bend(const Tensor& parameter, Dim j, double h) const;

  std::function<Tensor()> f_;
  Array v_;
  double tolerance_;
};

}  // namespace fledge
