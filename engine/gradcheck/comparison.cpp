#include "engine/gradcheck/comparison.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "engine/gradcheck/mistakes.h"
#include "engine/gradcheck/rounding.h"

namespace fledge {

namespace {

// Whether backward() and the oracle both give rounding errors of a derivative that is zero.
bool is_noise(double analytic, const Derivative& found) {
  return std::abs(analytic) <= found.noise && std::abs(found.value) <= found.noise;
}

double tolerance_of(Method method, const GradcheckOptions& options) {
  return method == Method::dual ? options.tolerance_dual : options.tolerance_differences;
}

}  // namespace

Comparison::Comparison(Method method, const CheckedGradients& checked)
    : checked_(checked),
      method_(method),
      tolerance_(tolerance_of(method, checked.options)),
      oracle_(method, checked.f, checked.v, tolerance_),
      analytic_(checked.gradients) {
  compute_derivatives();
  mark_rounding_as_zero();
  judge_elements();
  refuse_silent_zeros();
}

void Comparison::compute_derivatives() {
  double largest = 0;
  for (std::size_t p = 0; p < analytic_.size(); ++p) {
    derivatives_.emplace_back();
    for (std::size_t j = 0; j < analytic_[p].size(); ++j) {
      double& a = analytic_[p][j];
      Derivative d = oracle_.at(checked_.parameters[p].tensor, static_cast<Dim>(j), a);
      if (is_listed(p) && is_noise(a, d)) a = d.value = 0;  // both give the zero expected
      if (std::isfinite(d.scale)) largest = std::max(largest, d.scale);
      derivatives_[p].push_back(d);
    }
  }
  floor_ = 0.01 * largest;
}

double Comparison::error_of(std::size_t p, std::size_t j) const {
  const double a = analytic_[p][j], n = derivatives_[p][j].value;
  if (!std::isfinite(a) || !std::isfinite(n)) return std::nan("");
  return a == n ? 0 : std::abs(a - n) / std::max(derivatives_[p][j].scale, floor_);
}

// Where two numbers differ that are nothing but rounding, the gradient is zero: by dual numbers,
// which are exact but for rounding, and by differences if the tensor is listed.
void Comparison::mark_rounding_as_zero() {
  std::vector<Difference> small, zeros;
  rounding_.assign(analytic_.size(), 0.0);
  for (std::size_t p = 0; p < analytic_.size(); ++p) {
    zero_.emplace_back(analytic_[p].size(), false);
    for (std::size_t j = 0; j < analytic_[p].size(); ++j) {
      const Derivative& found = derivatives_[p][j];
      const Difference d{p, j, analytic_[p][j], found.value};
      if (!(error_of(p, j) > tolerance_)) continue;
      if (is_noise(d.analytic, found)) {
        rounding_[p] = std::max(rounding_[p], found.noise);
        zeros.push_back(d);
      } else if (d.size() <= 1e-6 * std::max(floor_, found.size)) {
        small.push_back(d);
      }
    }
  }
  measure_changes(checked_.f, checked_.parameters, checked_.v, oracle_, small);
  for (const Difference& d : small) {
    if (!d.is_rounding()) continue;
    derivatives_[d.parameter][d.element].rounding = 2 * d.change;
    if (!d.is_zero()) continue;
    rounding_[d.parameter] = std::max(rounding_[d.parameter], 4 * d.change);
    zeros.push_back(d);
  }
  // A tensor without a gradient is left to refuse_silent_zeros().
  for (const Difference& d : zeros)
    zero_[d.parameter][d.element] =
        method_ == Method::dual || is_listed(d.parameter) || !has_gradient(d.parameter);
}

bool Comparison::rounding_hides(std::size_t p, std::size_t j) const {
  const Derivative& d = derivatives_[p][j];
  return is_noise(analytic_[p][j], d) || std::abs(analytic_[p][j] - d.value) <= d.rounding;
}

// The steps that differences tried may disagree by more than the tolerance. A smaller error may then
// be an error of the differences.
Comparison::Verdict Comparison::judge(std::size_t p, std::size_t j) const {
  const double error = error_of(p, j);
  if (zero_[p][j] || error <= tolerance_) return Verdict::right;
  const Derivative& d = derivatives_[p][j];
  const bool within_uncertainty = std::abs(analytic_[p][j] - d.value) <= d.uncertainty;
  return !d.converged || within_uncertainty || rounding_hides(p, j) ? Verdict::undecided
                                                                    : Verdict::wrong;
}

void Comparison::judge_elements() {
  std::size_t worst_p = 0, worst_j = 0;
  bool any_decided = false;
  for (std::size_t p = 0; p < analytic_.size(); ++p) {
    verdicts_.emplace_back();
    for (std::size_t j = 0; j < analytic_[p].size(); ++j) {
      verdicts_[p].push_back(judge(p, j));
      if (verdicts_[p][j] == Verdict::undecided) {
        if (!undecided_) undecided_ = finding(p, j, reason_undecided(p, j));
        continue;
      }
      any_decided = true;
      const double error = zero_[p][j] ? 0 : error_of(p, j);
      if (error <= max_error_) continue;  // false for NaN, which is worse than anything
      if (std::isnan(max_error_)) continue;
      max_error_ = error;
      worst_p = p, worst_j = j;
    }
  }
  const bool any_wrong = !(max_error_ <= tolerance_);
  if (any_wrong) wrong_ = finding(worst_p, worst_j, "the gradient is wrong");
  if (!any_decided) max_error_ = infinity;
}

std::string Comparison::reason_undecided(std::size_t p, std::size_t j) const {
  return rounding_hides(p, j)
             ? "rounding hides this derivative: the output, or a number on the way to it, is too "
               "large; leave large constants out of the function"
             : "finite differences do not converge here: the function has a kink, a jump or the "
               "edge of its domain at or near this point";
}

// A gradient that is zero everywhere looks the same if no rule has computed it, and a list of
// exceptions would hide one that is zero by mistake.
void Comparison::refuse_silent_zeros() {
  for (std::size_t p = 0; p < analytic_.size() && !wrong_; ++p) {
    const bool silent = !has_gradient(p);
    if (analytic_[p].empty() || silent == is_listed(p)) continue;
    if (!silent) {
      wrong_ =
          finding(p, first_gradient(p),
                  "the tensor is listed in zero_gradients, but its gradient is not zero: remove "
                  "it from the list");
      continue;
    }
    const bool all_zero =
        std::all_of(analytic_[p].begin(), analytic_[p].end(), [](double g) { return g == 0; });
    verdicts_[p].assign(analytic_[p].size(), Verdict::undecided);
    if (undecided_) continue;
    undecided_ = finding(
        p, 0,
        rounding_[p] > 0
            ? "this gradient is only rounding: list the tensor in zero_gradients if it is zero by "
              "mathematics (a softmax sums to 1: multiply its terms by different numbers), or "
              "leave large constants out of the function"
        : all_zero
            ? "this check could not have failed: the gradient is zero in every element; "
              "list the tensor in zero_gradients if it is zero by mathematics"
            : "this gradient is too small beside the others to be checked with them: check the "
              "tensor alone, or list it in zero_gradients if it is zero by mathematics");
  }
}

Finding Comparison::finding(std::size_t p, std::size_t j, std::string problem) const {
  return {std::move(problem), p, j, analytic_[p][j], derivatives_[p][j].value};
}

bool Comparison::is_listed(std::size_t p) const {
  const auto& zero = checked_.options.zero_gradients;
  return std::find(zero.begin(), zero.end(), checked_.parameters[p].name) != zero.end();
}

// The first element with a gradient larger than its rounding error.
std::size_t Comparison::first_gradient(std::size_t p) const {
  const double least = std::max(tolerance_ * floor_, rounding_[p]);
  const auto is_more = [&](double g) { return std::abs(g) > least; };
  return static_cast<std::size_t>(std::find_if(analytic_[p].begin(), analytic_[p].end(), is_more) -
                                  analytic_[p].begin());
}

bool Comparison::confirms(std::size_t p, std::size_t j) const {
  if (verdicts_[p][j] != Verdict::right) return false;
  // At a kink symmetric differences give the mean of two slopes; a closer look shows it.
  const Tensor& x = checked_.parameters[p].tensor;
  return oracle_.at(x, static_cast<Dim>(j), std::nan("")).converged;
}

Dim Comparison::count_undecided() const {
  Dim count = 0;
  for (const std::vector<Verdict>& of_parameter : verdicts_)
    count += std::count(of_parameter.begin(), of_parameter.end(), Verdict::undecided);
  return count;
}

Diagnosis Comparison::diagnose_parameter(std::size_t p) const {
  Numbers expected;
  for (const Derivative& d : derivatives_[p]) expected.push_back(d.value);
  return diagnose(analytic_[p], expected, checked_.parameters[p].tensor.shape(),
                  floor_ * tolerance_,
                  known_mistakes(checked_.f, checked_.parameters, p, checked_.v, analytic_[p]));
}

}  // namespace fledge
