// The oracles: a derivative of ⟨v, f()⟩ obtained without any backward pass, in two ways.
//
// Used by gradcheck alone. Dual numbers: one forward pass with tangent 1 at the input. Differences:
// six forward passes or more with tangent 0, which is arithmetic in double.
// Next: comparison.h.
#pragma once

#include <functional>
#include <vector>

#include "engine/tensor.h"

namespace fledge {

enum class Method { dual, differences };

/// ∂⟨v, y⟩/∂x_j.
struct Derivative {
  double value = 0;
  double scale = 0;     // Σ_i |v_i|·|∂y_i/∂x_j|: the size of what was summed
  double size = 0;      // Σ_i |v_i·y_i|: what rounding errors are relative to
  double rounding = 0;  // what rounding of the y_i may have added to the value (differences only)
  double noise = 0;     // a derivative at most this large may be rounding of y
  double uncertainty = 0;  // how far the results of neighbouring steps differ (differences only)
  bool converged = true;   // false: no step gave a result that the next smaller one confirmed
};

/// Calls f. Returns false when f throws, as a function may do outside its domain. Interrupted and
/// std::bad_alloc are not caught.
bool completes(const std::function<void()>& f);

class Oracle {
 public:
  /// f() is evaluated, v has the shape of its value; `tolerance` is the accuracy needed.
  Oracle(Method method, std::function<Tensor()> f, Array v, double tolerance)
      : method_(method), f_(std::move(f)), v_(std::move(v)), tolerance_(tolerance) {}

  /// The derivative with respect to element j of a parameter of f. `claimed` is the number by
  /// backward(): differences try more and smaller steps where the first result does not confirm it.
  Derivative at(const Tensor& parameter, Dim j, double claimed) const;

 private:
  Derivative by_dual(const Tensor& parameter, Dim j) const;
  Derivative by_differences(const Tensor& parameter, Dim j, double claimed) const;
  Derivative six_point_difference(const Tensor& parameter, Dim j, double h) const;
  double one_sided_gap(const Tensor& parameter, Dim j, double h) const;

  Method method_;
  std::function<Tensor()> f_;
  Array v_;
  double tolerance_;
};

}  // namespace fledge
