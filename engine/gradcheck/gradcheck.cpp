#if defined(FLEDGE_DOUBLE) || defined(FLEDGE_DUAL)
#include "engine/gradcheck/gradcheck.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "engine/autograd.h"
#include "engine/base/errors.h"
#include "engine/gradcheck/backward_consistency.h"
#include "engine/gradcheck/diagnosis.h"
#include "engine/gradcheck/mistakes.h"
#include "engine/gradcheck/oracle.h"
#include "engine/gradcheck/rounding.h"

namespace fledge {

namespace {

#if defined(FLEDGE_DUAL)
constexpr bool exact = true;
#else
constexpr bool exact = false;
#endif

bool all_finite(const Array& x) {
  return std::all_of(x.data(), x.data() + x.size(), [](Real v) { return isfinite(v); });
}

// One check: gathers both gradients, then judges them.
class Check {
 public:
  Check(const std::function<Tensor()>& f, const std::vector<NamedTensor>& parameters,
        const GradcheckOptions& options)
      : f_(f), parameters_(parameters), options_(options) {}

  GradcheckReport run() {
    if (prepare() && gradients()) {
      compare();
      refuse_silent_zeros();
    }
    report_.ok = report_.problem.empty();
    if (!report_.ok && report_.max_error <= options_.tolerance) report_.max_error = infinity;
    return report_;
  }

 private:
  using Numbers = std::vector<double>;

  bool fail(std::string problem) {
    if (report_.problem.empty()) report_.problem = std::move(problem);
    return false;
  }

  bool prepare() {
    for (const NamedTensor& p : parameters_) report_.elements += p.tensor.size();
    if (report_.elements == 0) return fail("nothing to compare: the inputs have no elements");
    NoGrad no_grad;
    const Array first = f_().value(), again = f_().value();
    if (first.size() == 0) return fail("nothing to compare: the output has no elements");
    if (!all_finite(first))
      return fail("the output is not finite: choose inputs inside the domain");
    if (first.shape() != again.shape() || to_vector(first) != to_vector(again))
      return fail("the function gives another value each time: fix its random seed inside it");
    cotangent_ = random_cotangent(first.shape(), options_.seed);
    return true;
  }

  bool gradients() {
    Pullback result = pull_back(f_, parameters_, cotangent_, options_.seed);
    analytic_ = std::move(result.gradients);
    report_.by_oracle = result.problem.empty();
    return result.problem.empty() || fail_at(result.parameter, result.element, result.found,
                                             result.expected, std::move(result.problem));
  }

  bool fail_at(std::size_t p, std::size_t j, double analytic, double numeric, std::string problem) {
    report_.tensor = parameters_[p].name;
    report_.index = index_text(parameters_[p].tensor.shape(), static_cast<Dim>(j));
    report_.analytic = analytic;
    report_.numeric = numeric;
    return fail(std::move(problem));
  }

  bool listed(std::size_t p) const {
    const auto& zero = options_.zero_gradients;
    return std::find(zero.begin(), zero.end(), parameters_[p].name) != zero.end();
  }

  // Neither backward() nor the oracle found more than rounding leaves of a derivative of zero.
  static bool is_noise(double analytic, const Derivative& found) {
    return std::abs(analytic) <= found.noise && std::abs(found.value) <= found.noise;
  }

  void compare() {
    const Oracle oracle(f_, cotangent_, options_.tolerance);
    double largest = 0;
    for (std::size_t p = 0; p < parameters_.size(); ++p) {
      found_.emplace_back();
      for (std::size_t j = 0; j < analytic_[p].size(); ++j) {
        found_[p].push_back(oracle.at(parameters_[p].tensor, static_cast<Dim>(j), analytic_[p][j]));
        if (listed(p) && is_noise(analytic_[p][j], found_[p][j]))  // both give the zero expected
          analytic_[p][j] = found_[p][j].value = 0;
        if (std::isfinite(found_[p][j].scale)) largest = std::max(largest, found_[p][j].scale);
      }
    }
    floor_ = 0.01 * largest;
    mark_rounding_as_zero(oracle);

    std::size_t worst_p = 0, worst_j = 0;
    bool any_bad = false;
    for (std::size_t p = 0; p < parameters_.size(); ++p)
      for (std::size_t j = 0; j < analytic_[p].size(); ++j) {
        const double error = zero_[p][j] ? 0 : error_of(p, j);
        if (error <= report_.max_error) continue;  // false for NaN, which is worse than anything
        if (std::isnan(report_.max_error)) continue;
        report_.max_error = error;
        worst_p = p, worst_j = j;
      }
    any_bad = !(report_.max_error <= options_.tolerance);
    if (!any_bad) return;
    report_error(worst_p, worst_j);
  }

  double error_of(std::size_t p, std::size_t j) const {
    const double a = analytic_[p][j], n = found_[p][j].value;
    return !std::isfinite(a) || !std::isfinite(n) ? std::nan("")
           : a == n                               ? 0
                    : std::abs(a - n) / std::max(found_[p][j].scale, floor_);
  }

  // Where two numbers differ that are nothing but rounding, the gradient is zero: by dual numbers,
  // which are exact but for rounding, and by differences if the tensor is listed.
  void mark_rounding_as_zero(const Oracle& oracle) {
    std::vector<Difference> small, zeros;
    rounding_.assign(parameters_.size(), 0.0);
    for (std::size_t p = 0; p < parameters_.size(); ++p) {
      zero_.emplace_back(analytic_[p].size(), false);
      for (std::size_t j = 0; j < analytic_[p].size(); ++j) {
        const Derivative& there = found_[p][j];
        const Difference d{p, j, analytic_[p][j], there.value};
        if (!(error_of(p, j) > options_.tolerance)) continue;
        if (is_noise(d.analytic, there)) {
          rounding_[p] = std::max(rounding_[p], there.noise);
          zeros.push_back(d);
        } else if (d.size() <= 1e-6 * std::max(floor_, there.size)) {
          small.push_back(d);
        }
      }
    }
    measure_changes(f_, parameters_, cotangent_, oracle, small);
    for (const Difference& d : small) {
      if (!d.is_rounding()) continue;
      found_[d.parameter][d.element].rounding = 2 * d.change;
      if (!d.is_zero()) continue;
      rounding_[d.parameter] = std::max(rounding_[d.parameter], 4 * d.change);
      zeros.push_back(d);
    }
    // A tensor without a gradient is left to refuse_silent_zeros().
    for (const Difference& d : zeros)
      zero_[d.parameter][d.element] = exact || listed(d.parameter) || !has_gradient(d.parameter);
  }

  // True if at least one element has a gradient larger than rounding.
  bool has_gradient(std::size_t p) const { return first_gradient(p) < analytic_[p].size(); }

  std::size_t first_gradient(std::size_t p) const {
    const double least = std::max(options_.tolerance * floor_, rounding_[p]);
    const auto is_more = [&](double g) { return std::abs(g) > least; };
    return static_cast<std::size_t>(
        std::find_if(analytic_[p].begin(), analytic_[p].end(), is_more) - analytic_[p].begin());
  }

  void report_error(std::size_t p, std::size_t j) {
    const double a = analytic_[p][j], n = found_[p][j].value;
    const bool hidden = is_noise(a, found_[p][j]) || std::abs(a - n) <= found_[p][j].rounding;
    fail_at(
        p, j, a, n,
        hidden ? "rounding hides this derivative: the output, or a number on the way to it, is too "
                 "large; leave large constants out of the function"
        : found_[p][j].settled
            ? "the gradient is wrong"
            : "finite differences do not converge here: the function has a kink, a jump or the "
              "edge of its domain at or near this point; dual numbers can tell");
    if (hidden || !found_[p][j].settled) return;  // right or wrong: it cannot be said
    Numbers numeric;
    for (const Derivative& d : found_[p]) numeric.push_back(d.value);
    Diagnosis diagnosis =
        diagnose(analytic_[p], numeric, parameters_[p].tensor.shape(), floor_ * options_.tolerance,
                 known_mistakes(f_, parameters_, p, cotangent_, analytic_[p]));
    report_.likely_cause = std::move(diagnosis.cause);
    report_.pattern = std::move(diagnosis.pattern);
  }

  // A gradient that is zero everywhere looks the same if no rule has computed it, and a list of
  // exceptions would hide one that is zero by mistake.
  void refuse_silent_zeros() {
    for (std::size_t p = 0; p < parameters_.size() && report_.problem.empty(); ++p) {
      const bool silent = !has_gradient(p);
      const bool all_zero =
          std::all_of(analytic_[p].begin(), analytic_[p].end(), [](double g) { return g == 0; });
      if (analytic_[p].empty() || silent == listed(p)) continue;
      const std::size_t j = silent ? 0 : first_gradient(p);
      fail_at(
          p, j, analytic_[p][j], found_[p][j].value,
          !silent ? "the tensor is listed in zero_gradients, but its gradient is not zero: remove "
                    "it from the list"
          : rounding_[p] > 0
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

  const std::function<Tensor()>& f_;
  const std::vector<NamedTensor>& parameters_;
  const GradcheckOptions& options_;
  Array cotangent_;
  std::vector<Numbers> analytic_;
  std::vector<std::vector<Derivative>> found_;
  double floor_ = 0;
  std::vector<std::vector<bool>> zero_;  // both numbers are rounding
  Numbers rounding_;                     // by parameter: the largest rounding marked as zero
  GradcheckReport report_;
};

}  // namespace

GradcheckReport gradcheck(const std::function<Tensor()>& f,
                          const std::vector<NamedTensor>& parameters,
                          const GradcheckOptions& options) {
  require<ValueError>(std::isfinite(options.tolerance) && options.tolerance > 0, "gradcheck",
                      "the tolerance must be positive and finite: got ", options.tolerance);
  for (const NamedTensor& p : parameters)
    require<ValueError>(p.tensor.is_parameter(), "gradcheck", "'", p.name,
                        "' is no parameter: make it with parameter()");
  for (std::size_t p = 0; p < parameters.size(); ++p)
    for (std::size_t q = 0; q < p; ++q)
      require<ValueError>(parameters[p].tensor.node() != parameters[q].tensor.node(), "gradcheck",
                          "'", parameters[q].name, "' and '", parameters[p].name,
                          "' are one tensor: list it once");
  for (const std::string& name : options.zero_gradients)
    require<ValueError>(std::any_of(parameters.begin(), parameters.end(),
                                    [&](const NamedTensor& p) { return p.name == name; }),
                        "gradcheck", "zero_gradients names '", name,
                        "', which is no parameter here");
  return Check(f, parameters, options).run();
}

GradcheckReport gradcheck(const std::function<Tensor(const std::vector<Tensor>&)>& f,
                          const std::vector<Array>& inputs, const GradcheckOptions& options) {
  std::vector<Tensor> tensors;
  std::vector<NamedTensor> named;
  for (const Array& input : inputs) {
    tensors.push_back(parameter(input.clone()));
    named.push_back({"input " + std::to_string(named.size()), tensors.back()});
  }
  return gradcheck([&] { return f(tensors); }, named, options);
}

}  // namespace fledge
#endif
