// The gradients of backward(), compared with each other and with those of an oracle.
//
// A wrong rule may give the right Jᵀ·v for one v. A right rule is linear in dy, and adds to the
// gradient of its input. So backward() runs again: unchanged, with v = 0, with a scaled v, and with
// a second op that uses every parameter.
#pragma once

#include <algorithm>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "engine/gradcheck/diagnosis.h"
#include "engine/gradcheck/gradcheck.h"
#include "engine/gradcheck/oracle.h"

namespace fledge {

/// Random signs and magnitudes in [½, 3/2): never constant, never near zero.
Array random_cotangent(const Shape& shape, std::uint64_t seed);

/// Numbers by parameter, by element.
using Gradients = std::vector<std::vector<double>>;

/// The parameters that y depends on, each once.
std::vector<Node*> leaves_of(const Tensor& y);

/// Jᵀ·v by one backward pass over y, which keeps its graph; zeros where the pass does not arrive.
/// The parameters hold no gradient afterwards. Other parameters keep theirs.
Gradients gradients_of(const Tensor& y, const std::vector<NamedTensor>& parameters, const Array& v);

/// An element of a parameter's gradient at which a problem shows.
struct WrongElement {
  std::size_t index = 0;
  double analytic = 0, expected = 0;
  double error = 0;  // what elements are compared by; NaN is worse than any number
};

/// Adds an element to the five with the largest errors, the largest first.
void add_worst(std::vector<WrongElement>& worst, const WrongElement& element);

/// A problem, and the elements of one parameter at which it shows most.
struct WrongGradient {
  std::string problem;  // one sentence
  std::size_t parameter = 0;
  std::vector<WrongElement> elements;  // one to five, the worst first
  const WrongElement& worst() const { return elements.front(); }
};

/// Compares each element of `found` with the same element of `expected`. It is found wrong if it
/// differs by more than `tolerance` times the largest expected number of its tensor. An element with
/// an expected number that is not finite is skipped. Returns the first tensor with wrong elements.
std::optional<WrongGradient> first_difference(const Gradients& found, const Gradients& expected,
                                              double tolerance, const std::string& problem);

/// Jᵀ·v, and the first repetition that gave another result, if there is one.
struct BackwardConsistency {
  Gradients gradients;
  std::optional<WrongGradient> inconsistency;
};

/// Computes Jᵀ·v by backward() of f(); f is evaluated once or twice. Gradients that the parameters
/// had before are forgotten. `seed` draws the other users' cotangents.
BackwardConsistency check_passes(const std::function<Tensor()>& f,
                                 const std::vector<NamedTensor>& parameters, const Array& v,
                                 std::uint64_t seed);

/// What both oracles check: f, its parameters, the cotangent v, and Jᵀ·v by backward().
struct CheckedGradients {
  const std::function<Tensor()>& f;
  const std::vector<NamedTensor>& parameters;
  const GradcheckOptions& options;
  Array v;
  Gradients gradients;
};

/// What is wrong with H·u, by differences and by its symmetry. Raises the report's max_error_second
/// to the largest error, relative to the largest number of H·u, and counts second_undecided.
std::optional<WrongGradient> check_hessian(const CheckedGradients& checked,
                                           GradcheckReport& report);

/// What one oracle finds, element by element.
class Comparison {
 public:
  enum class Verdict : char {
    right,
    wrong,
    undecided  // this oracle cannot tell: no convergence, or rounding hides the derivative
  };

  /// Compares all elements. `checked` must outlive this object.
  Comparison(Method method, const CheckedGradients& checked);

  double max_error() const { return max_error_; }                       // as in GradcheckReport
  const std::optional<WrongGradient>& wrong() const { return wrong_; }  // the worst
  /// The first element whose verdict is a failure although it is not wrong. An element that is too
  /// small beside the others, or of which dual numbers prove six digits only, is no failure.
  const std::optional<WrongGradient>& undecided() const { return undecided_; }
  Verdict verdict(std::size_t p, std::size_t j) const { return elements_[p][j].verdict; }
  /// How many outputs depend on no parameter.
  Dim unreached() const { return std::count(reached_.begin(), reached_.end(), false); }
  /// Why an element is undecided: one sentence.
  const char* reason(std::size_t p, std::size_t j) const { return elements_[p][j].reason; }

  /// Whether the oracle also finds this element right without the number by backward().
  bool confirms(std::size_t p, std::size_t j) const;

  /// The likely cause of a wrong gradient of parameter p.
  Diagnosis diagnose_parameter(std::size_t p) const;

 private:
  /// One number of a parameter's gradient.
  struct Element {
    std::size_t parameter = 0, index = 0;
    double analytic = 0;  // by backward()
    Derivative found;
    bool zero = false;  // both numbers are rounding errors: the derivative is zero
    double change = 0;  // of analytic − found.value when the inputs change in their last places
    double far_change = 0;  // the same, when they change more
    // Its error is small beside the largest scale, but not beside its own.
    bool is_small_beside_others = false;
    double error = 0;  // by which it was judged
    Verdict verdict = Verdict::right;
    const char* reason = "";  // why it is undecided

    double difference() const;
    double own_error() const;  // relative to its own scale
    bool agrees_in_six_digits() const { return own_error() <= 1e-6; }
    bool is_noise() const;
    bool is_steady() const;
    bool rounding_hides() const { return is_noise() || difference() <= found.rounding; }
    const char* reason_undecided() const;
  };

  void recognise_rounding();
  void measure_changes(std::vector<Element*> elements) const;
  void judge(Element& element);
  Verdict verdict_beside_larger(const Element& element) const;
  void collect(std::optional<WrongGradient>& found, Verdict verdict) const;
  void refuse_silent_zeros();
  WrongGradient finding(const Element& element, std::string problem) const;
  double error_of(const Element& element) const;
  bool is_listed(std::size_t p) const;
  const Element* first_gradient(std::size_t p) const;

  const CheckedGradients& checked_;
  std::vector<bool> reached_;  // by output: whether a parameter moves it
  Oracle oracle_;
  std::vector<std::vector<Element>> elements_;  // by parameter
  double floor_ = 0;                            // 1 % of the largest scale
  std::vector<double> rounding_;  // by parameter: the largest rounding error that counts as zero
  double max_error_ = 0;
  std::optional<WrongGradient> wrong_, undecided_;
};

}  // namespace fledge
