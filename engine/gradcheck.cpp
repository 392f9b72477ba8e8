#if defined(FLEDGE_DOUBLE) || defined(FLEDGE_DUAL)
#include "engine/gradcheck.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <utility>

#include "engine/autograd.h"
#include "engine/diagnosis.h"
#include "engine/errors.h"
#include "engine/oracle.h"
#include "engine/pullback.h"

namespace fledge::inline FLEDGE_BUILD {

namespace {

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
    Pullback answer = pull_back(f_, parameters_, cotangent_, options_.seed);
    analytic_ = std::move(answer.gradients);
    report_.by_oracle = answer.problem.empty();
    return answer.problem.empty() || fail_at(answer.parameter, answer.element, answer.found,
                                             answer.expected, std::move(answer.problem));
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
    Oracle oracle(f_, cotangent_, options_.tolerance);
    std::vector<std::vector<Derivative>> found;
    double largest = 0;
    for (std::size_t p = 0; p < parameters_.size(); ++p) {
      found.emplace_back();
      for (std::size_t j = 0; j < analytic_[p].size(); ++j) {
        found[p].push_back(oracle.at(parameters_[p].tensor, static_cast<Dim>(j), analytic_[p][j]));
        if (listed(p) && is_noise(analytic_[p][j], found[p][j]))  // both say the zero expected
          analytic_[p][j] = found[p][j].value = 0;
        if (std::isfinite(found[p][j].scale)) largest = std::max(largest, found[p][j].scale);
      }
    }
    floor_ = 0.01 * largest;

    std::size_t worst_p = 0, worst_j = 0;
    bool any_bad = false;
    for (std::size_t p = 0; p < parameters_.size(); ++p) {
      numeric_.emplace_back();
      for (std::size_t j = 0; j < analytic_[p].size(); ++j) {
        const double a = analytic_[p][j], n = found[p][j].value;
        numeric_[p].push_back(n);
        const double error = !std::isfinite(a) || !std::isfinite(n) ? std::nan("")
                             : a == n                               ? 0
                                      : std::abs(a - n) / std::max(found[p][j].scale, floor_);
        if (error <= report_.max_error) continue;  // false for NaN, which is worse than anything
        if (std::isnan(report_.max_error)) continue;
        report_.max_error = error;
        worst_p = p, worst_j = j;
      }
    }
    any_bad = !(report_.max_error <= options_.tolerance);
    if (!any_bad) return;
    const double a = analytic_[worst_p][worst_j], n = numeric_[worst_p][worst_j];
    const Derivative& there = found[worst_p][worst_j];
    const bool noise = is_noise(a, there), hidden = noise || std::abs(a - n) <= there.rounding;
    fail_at(
        worst_p, worst_j, a, n,
        noise    ? "beside the output this gradient is nothing but rounding: list the tensor in "
                   "zero_gradients if it is zero by mathematics (softmax sums to 1: weigh its terms), "
                   "or leave large constants out of the function"
        : hidden ? "rounding hides the derivative from differences: the output is too large beside "
                   "it; leave large constants out of the function"
        : there.settled ? "the gradient is wrong"
                        : "the differences do not settle here: a kink, a jump or the edge of the "
                          "domain, at or near this very point; dual numbers can tell");
    if (hidden || !there.settled) return;  // right or wrong, nobody can say
    report_.likely_cause =
        diagnose(analytic_[worst_p], numeric_[worst_p], parameters_[worst_p].tensor.shape(),
                 floor_ * options_.tolerance);
  }

  // A gradient that is zero everywhere would look the same if nobody had computed it, and a list of
  // exceptions would hide one that is zero by mistake.
  void refuse_silent_zeros() {
    for (std::size_t p = 0; p < parameters_.size() && report_.problem.empty(); ++p) {
      const auto loud = [&](double g) { return std::abs(g) > options_.tolerance * floor_; };
      const auto first = std::find_if(analytic_[p].begin(), analytic_[p].end(), loud);
      const bool silent = first == analytic_[p].end();
      const bool all_zero =
          std::all_of(analytic_[p].begin(), analytic_[p].end(), [](double g) { return g == 0; });
      if (analytic_[p].empty() || silent == listed(p)) continue;
      const auto j = static_cast<std::size_t>(silent ? 0 : first - analytic_[p].begin());
      fail_at(
          p, j, analytic_[p][j], numeric_[p][j],
          silent ? all_zero
                       ? "this check could not have failed: the gradient is zero in every element; "
                         "list the tensor in zero_gradients if mathematics says so"
                       : "this gradient is too small beside the others to be checked with them: "
                         "check the tensor alone, or list it in zero_gradients if it is rounding"
                 : "the tensor is listed in zero_gradients and its gradient is not zero: take it "
                   "off the list");
    }
  }

  const std::function<Tensor()>& f_;
  const std::vector<NamedTensor>& parameters_;
  const GradcheckOptions& options_;
  Array cotangent_;
  std::vector<Numbers> analytic_, numeric_;
  double floor_ = 0;
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

namespace {

std::string digits(double x, int count) {
  if (std::isnan(x)) return "nan";  // its sign means nothing
  char text[40];
  const auto end = std::to_chars(text, text + sizeof text, x, std::chars_format::general, count);
  return {text, end.ptr};
}

// As many digits of both, six at least, as it takes to see that they differ.
std::pair<std::string, std::string> told_apart(double a, double b) {
  int count = 6;
  while (count < 17 && a != b && digits(a, count) == digits(b, count)) ++count;
  return {digits(a, count), digits(b, count)};
}

}  // namespace

std::string to_string(const GradcheckReport& report) {
  std::string text = report.ok ? "ok" : report.problem;
  text += ": ";
  if (!report.tensor.empty()) {
    const auto [analytic, numeric] = told_apart(report.analytic, report.numeric);
    text += report.tensor + report.index + " is " + analytic + " by backward(), " + numeric;
    text += report.by_oracle ? std::string(" by ") + gradcheck_oracle : " expected";
    text += "; ";
  }
  detail::append(text, report.elements);
  text += " elements, largest error ";
  detail::append(text, report.max_error);
  if (!report.likely_cause.empty()) text += "; likely cause: " + report.likely_cause;
  return text;
}

}  // namespace fledge::inline FLEDGE_BUILD
#endif
