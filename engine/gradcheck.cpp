#if defined(FLEDGE_DOUBLE) || defined(FLEDGE_DUAL)
#include "engine/gradcheck.h"

#include <algorithm>
#include <cmath>

#include "engine/array_math.h"
#include "engine/autograd.h"
#include "engine/diagnosis.h"
#include "engine/errors.h"
#include "engine/ops.h"
#include "engine/oracle.h"
#include "engine/random.h"

namespace fledge::inline FLEDGE_BUILD {

namespace {

// Random signs and magnitudes in [½, 3/2): never constant, never near zero.
Array random_cotangent(const Shape& shape, std::uint64_t seed) {
  Rng rng(seed);
  Array v(shape);
  Real* to = v.write();
  for (Dim i = 0; i < v.size(); ++i) {
    const double magnitude = 0.5 + rng.uniform();
    to[i] = Real(rng.uniform() < 0.5 ? -magnitude : magnitude);
  }
  return v;
}

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

  // Jᵀ·v for every parameter; zeros where backward() did not come.
  std::vector<Numbers> pull_back(const Tensor& y, const Array& v) {
    for (const NamedTensor& p : parameters_) p.tensor.zero_grad();
    if (y.needs_grad()) backward(y, v, Graph::keep);
    std::vector<Numbers> gradients;
    for (const NamedTensor& p : parameters_) {
      gradients.push_back(p.tensor.has_grad()
                              ? to_vector(p.tensor.grad())
                              : Numbers(static_cast<std::size_t>(p.tensor.size()), 0.0));
    }
    for (const NamedTensor& p : parameters_) p.tensor.zero_grad();
    return gradients;
  }

  bool gradients() {
    const Tensor y = f_();
    analytic_ = pull_back(y, cotangent_);
    const std::vector<Numbers> again = pull_back(y, cotangent_);
    const std::vector<Numbers> zeros = pull_back(y, Array::zeros(cotangent_.shape()));
    for (std::size_t p = 0; p < parameters_.size(); ++p)
      for (std::size_t j = 0; j < analytic_[p].size(); ++j) {
        const bool same = analytic_[p][j] == again[p][j] ||
                          (std::isnan(analytic_[p][j]) && std::isnan(again[p][j]));
        if (!same)
          return fail_at(p, j, analytic_[p][j], again[p][j],
                         "a second backward pass gives another gradient");
        if (zeros[p][j] != 0 && std::isfinite(analytic_[p][j]))
          return fail_at(p, j, zeros[p][j], 0,
                         "a zero cotangent gives a gradient that is not zero");
      }
    return !y.needs_grad() || (follows_scale(y) && adds_to_others());
  }

  // Rules are linear in dy: one that clips it is right only where dy is small. Powers of two scale
  // every product and every sum without rounding.
  bool follows_scale(const Tensor& y) {
    for (const double factor : {-1024.0, 1.0 / 1024}) {
      const std::vector<Numbers> scaled = pull_back(y, cotangent_ * Real(factor));
      for (std::size_t p = 0; p < parameters_.size(); ++p)
        for (std::size_t j = 0; j < analytic_[p].size(); ++j) {
          const double expected = factor * analytic_[p][j];
          if (std::isfinite(expected) &&
              !(std::abs(scaled[p][j] - expected) <= 1e-9 * std::abs(factor) * largest(p)))
            return fail_at(
                p, j, scaled[p][j], expected,
                "a cotangent of another size gives a gradient that is not as much larger "
                "or smaller: a rule must be linear in dy");
        }
    }
    return true;
  }

  // Once more with another user c·p of each parameter, recorded last, so that c has arrived when the
  // rules of f run: a rule that overwrites what it should add to is right only where it comes first.
  bool adds_to_others() {
    const Tensor y = f_();
    Tensor total = sum(y * Tensor(cotangent_));
    std::vector<Array> others;
    for (std::size_t p = 0; p < parameters_.size(); ++p) {
      const Tensor& x = parameters_[p].tensor;
      others.push_back(random_cotangent(x.shape(), options_.seed + p + 1) * Real(largest(p)));
      total = total + sum(x * Tensor(others.back()));
    }
    const std::vector<Numbers> shared = pull_back(total, Array::ones({}));
    for (std::size_t p = 0; p < parameters_.size(); ++p)
      for (std::size_t j = 0; j < analytic_[p].size(); ++j) {
        const double both = analytic_[p][j] + value_of(others[p][static_cast<Dim>(j)]);
        if (std::abs(shared[p][j] - both) > 1e-6 * largest(p))
          return fail_at(
              p, j, shared[p][j], both,
              "a rule overwrites what another user of the tensor has contributed: it must "
              "add");
      }
    return true;
  }

  // |dp|, at its largest; 1 where that is no use.
  double largest(std::size_t p) const {
    double most = 0;
    for (const double g : analytic_[p]) most = std::max(most, std::abs(g));
    return std::isfinite(most) && most > 0 ? most : 1;
  }

  bool fail_at(std::size_t p, std::size_t j, double analytic, double numeric, std::string problem) {
    report_.tensor = parameters_[p].name;
    report_.index = index_text(parameters_[p].tensor.shape(), static_cast<Dim>(j));
    report_.analytic = analytic;
    report_.numeric = numeric;
    return fail(std::move(problem));
  }

  void compare() {
    Oracle oracle(f_, cotangent_, options_.tolerance);
    std::vector<std::vector<Derivative>> found;
    double largest = 0;
    for (std::size_t p = 0; p < parameters_.size(); ++p) {
      found.emplace_back();
      for (std::size_t j = 0; j < analytic_[p].size(); ++j) {
        found[p].push_back(oracle.at(parameters_[p].tensor, static_cast<Dim>(j), analytic_[p][j]));
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
    const bool hidden = std::abs(a - n) <= there.rounding;
    fail_at(
        worst_p, worst_j, a, n,
        hidden ? "rounding hides the derivative from differences: the output is too large beside "
                 "it; leave large constants out of the function"
        : there.settled ? "the gradient is wrong"
                        : "the differences do not settle here: a kink, a jump or the edge of the "
                          "domain, at or near this very point");
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
      const auto& zero = options_.zero_gradients;
      const bool listed = std::find(zero.begin(), zero.end(), parameters_[p].name) != zero.end();
      const auto first = std::find_if(analytic_[p].begin(), analytic_[p].end(), loud);
      const bool silent = first == analytic_[p].end();
      const bool all_zero =
          std::all_of(analytic_[p].begin(), analytic_[p].end(), [](double g) { return g == 0; });
      if (analytic_[p].empty() || silent == listed) continue;
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

std::string to_string(const GradcheckReport& report) {
  std::string text = report.ok ? "ok" : report.problem;
  text += ": ";
  if (!report.tensor.empty()) {
    text += report.tensor + report.index + " is ";
    detail::append(text, report.analytic);
    text += " by backward(), ";
    detail::append(text, report.numeric);
    text += std::string(" by ") + gradcheck_oracle + "; ";
  }
  detail::append(text, report.elements);
  text += " elements, largest error ";
  detail::append(text, report.max_error);
  if (!report.likely_cause.empty()) text += "; likely cause: " + report.likely_cause;
  return text;
}

}  // namespace fledge::inline FLEDGE_BUILD
#endif
