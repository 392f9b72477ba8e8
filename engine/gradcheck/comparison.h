// What one oracle finds when it is compared with the gradients of backward(), element by element.
//
// Used by gradcheck alone. Not here: how the findings of both oracles become one report.
// Next: gradcheck.cpp.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "engine/gradcheck/backward_consistency.h"
#include "engine/gradcheck/diagnosis.h"
#include "engine/gradcheck/gradcheck.h"
#include "engine/gradcheck/oracle.h"

namespace fledge {

/// What both oracles check: f, its parameters, the cotangent v, and Jᵀ·v by backward().
struct CheckedGradients {
  const std::function<Tensor()>& f;
  const std::vector<NamedTensor>& parameters;
  const GradcheckOptions& options;
  Array v;
  Gradients gradients;
};

class Comparison {
 public:
  enum class Verdict : char {
    right,
    wrong,
    undecided  // this oracle cannot tell: no convergence, or rounding hides the derivative
  };

  /// Compares all elements. `checked` must outlive this object.
  Comparison(Method method, const CheckedGradients& checked);

  double max_error() const { return max_error_; }                 // as in GradcheckReport
  const std::optional<Finding>& wrong() const { return wrong_; }  // the worst
  const std::optional<Finding>& undecided() const { return undecided_; }
  Dim count_undecided() const;
  Verdict verdict(std::size_t p, std::size_t j) const { return verdicts_[p][j]; }

  /// Whether the oracle also finds this element right when it does not know the number by backward().
  bool confirms(std::size_t p, std::size_t j) const;

  /// The likely cause of a wrong gradient of parameter p.
  Diagnosis diagnose_parameter(std::size_t p) const;

 private:
  using Numbers = std::vector<double>;

  void compute_derivatives();
  void mark_rounding_as_zero();
  void judge_elements();
  void refuse_silent_zeros();
  Verdict judge(std::size_t p, std::size_t j) const;
  std::string reason_undecided(std::size_t p, std::size_t j) const;
  Finding finding(std::size_t p, std::size_t j, std::string problem) const;
  double error_of(std::size_t p, std::size_t j) const;
  bool rounding_hides(std::size_t p, std::size_t j) const;
  bool is_listed(std::size_t p) const;
  bool has_gradient(std::size_t p) const { return first_gradient(p) < analytic_[p].size(); }
  std::size_t first_gradient(std::size_t p) const;

  const CheckedGradients& checked_;
  Method method_;
  double tolerance_;
  Oracle oracle_;
  Gradients analytic_;
  std::vector<std::vector<Derivative>> derivatives_;
  double floor_ = 0;                     // 1 % of the largest scale
  std::vector<std::vector<bool>> zero_;  // both numbers are rounding
  Numbers rounding_;                     // by parameter: the largest rounding marked as zero
  std::vector<std::vector<Verdict>> verdicts_;
  double max_error_ = 0;
  std::optional<Finding> wrong_, undecided_;
};

}  // namespace fledge
