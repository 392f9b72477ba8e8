// The oracles: a derivative of ⟨v, f()⟩ obtained without any backward pass, in two ways.
//
// Dual numbers: one forward pass with tangent 1 at the input. Differences: six forward passes or
// more with tangent 0, which is arithmetic in double.
#pragma once

#include <functional>
#include <vector>

#include "engine/tensor.h"

namespace fledge {

enum class Method { dual, differences };

/// ∂⟨v, y⟩/∂x_j.
struct Derivative {
  double value = 0;
  double scale = 0;        // Σ_i |v_i|·|∂y_i/∂x_j|: the size of what was summed
  double size = 0;         // Σ_i |v_i·y_i|: what rounding errors are relative to
  double rounding = 0;     // of `value`, estimated from how the results of the steps differ
  double noise = 0;        // a derivative at most this large may be rounding of y
  double own_noise = 0;    // the same, of those y_i that depend on x_j (dual only)
  double uncertainty = 0;  // how far the results of neighbouring steps differ (differences only)
  bool converged = true;   // false: no step gave a result that the next smaller one confirmed
};

/// Copies the numbers of parameters, which may then be changed. The destructor writes the old
/// numbers back, also after an exception. The parameters must outlive the object.
class ChangedValues {
 public:
  /// Throws GraphError if a parameter cannot be written: none is changed then.
  explicit ChangedValues(const std::vector<Tensor>& parameters);
  ~ChangedValues();
  ChangedValues(const ChangedValues&) = delete;
  ChangedValues& operator=(const ChangedValues&) = delete;

  Real* numbers(std::size_t parameter) const { return saved_[parameter].numbers; }

 private:
  struct Saved {
    Real* numbers = nullptr;
    Array before;
  };
  std::vector<Saved> saved_;
};

/// Calls f. Returns false when f throws, as a function may do outside its domain. Interrupted and
/// std::bad_alloc are not caught.
bool completes(const std::function<void()>& f);

/// f() with tangent 1 at element j of a parameter: output i has the value y_i and the tangent
/// ∂y_i/∂x_j, exact to rounding. The tangents are column j of J.
Array forward_derivatives(const std::function<Tensor()>& f, const Tensor& parameter, Dim j);

/// Computes derivatives of ⟨v, f()⟩. v has the shape of f(); `tolerance` is the accuracy needed.
struct Oracle {
  Method method;
  std::function<Tensor()> f;
  Array v;
  double tolerance;
  std::vector<bool>* reached = nullptr;  // set where an output moves, by dual numbers

  /// The derivative with respect to element j of a parameter of f. `claimed` is the number by
  /// backward(): differences try more and smaller steps where the first result does not confirm it.
  /// A step where f throws, or has an output of another shape, decides nothing.
  Derivative at(const Tensor& parameter, Dim j, double claimed) const;
};

}  // namespace fledge
