#include "engine/gradcheck/gradcheck.h"

#include <map>

#include "engine/autograd.h"
#include "engine/gradcheck/comparison.h"

namespace fledge {

namespace {

bool all_finite(const Array& x) {
  return std::all_of(x.data(), x.data() + x.size(), [](Real v) { return isfinite(v); });
}

void write_problem(const WrongGradient& found, const std::vector<NamedTensor>& parameters,
                   GradcheckReport& report) {
  report.ok = false;
  report.problem = found.problem;
  const NamedTensor& tensor = parameters[found.parameter];
  for (const WrongElement& e : found.elements)
    report.worst.push_back(
        {index_text(tensor.tensor.shape(), static_cast<Dim>(e.index)), e.analytic, e.expected});
  if (report.worst.empty()) return;
  report.tensor = tensor.name;
  report.index = report.worst[0].index;
  report.analytic = report.worst[0].analytic;
  report.expected = report.worst[0].expected;
}

// One check: evaluates f, computes the gradients by backward(), compares them with both oracles and
// writes the report.
class Check {
 public:
  Check(const std::function<Tensor()>& f, const std::vector<NamedTensor>& parameters,
        const GradcheckOptions& options)
      : checked_{f, parameters, options, {}, {}} {
    for (const NamedTensor& p : parameters) report_.elements += p.tensor.size();
  }

  GradcheckReport run() {
    if (evaluate() && compute_gradients()) {
      compare();
    } else {
      report_.max_error_dual = report_.max_error_differences = infinity;
    }
    if (report_.problem.empty() && checked_.options.order == 2) check_second_order();
    report_.ok = report_.problem.empty();
    return report_;
  }

 private:
  bool fail(std::string problem) {
    report_.problem = std::move(problem);
    return false;
  }

  bool fail_at(const WrongGradient& found) {
    write_problem(found, checked_.parameters, report_);
    return false;
  }

  bool evaluate() {
    if (report_.elements == 0) return fail("nothing to compare: the inputs have no elements");
    NoGrad no_grad;
    const Array first = checked_.f().value(), again = checked_.f().value();
    if (first.size() == 0) return fail("nothing to compare: the output has no elements");
    if (!all_finite(first))
      return fail("the output is not finite: choose inputs inside the domain");
    if (first.shape() != again.shape() || to_vector(first) != to_vector(again))
      return fail("the function gives another value each time: fix its random seed inside it");
    checked_.v = random_cotangent(first.shape(), checked_.options.seed);
    return true;
  }

  bool compute_gradients() {
    std::vector<std::vector<double>> values;
    for (const NamedTensor& p : checked_.parameters) values.push_back(to_vector(p.tensor.value()));
    BackwardConsistency result =
        check_passes(checked_.f, checked_.parameters, checked_.v, checked_.options.seed);
    checked_.gradients = std::move(result.gradients);
    for (std::size_t p = 0; p < values.size(); ++p)
      if (to_vector(checked_.parameters[p].tensor.value()) != values[p])
        return fail("f or backward() changes the values of " + checked_.parameters[p].name);
    return !result.inconsistency || fail_at(*result.inconsistency);
  }

  void compare() {
    const Comparison dual(Method::dual, checked_), differences(Method::differences, checked_);
    report_.max_error_dual = dual.max_error();
    report_.max_error_differences = differences.max_error();
    report_.unreached = dual.unreached();
    std::string note = count_undecided(dual, differences);
    const auto& by_dual = dual.wrong() ? dual.wrong() : dual.undecided();
    const auto& by_differences =
        differences.wrong() ? differences.wrong() : differences.undecided();
    report_.wrong_by_dual = by_dual.has_value();
    report_.wrong_by_differences =
        differences.wrong() ||
        (by_dual && by_differences && by_dual->problem == by_differences->problem);
    if (by_dual) {
      fail_at(*by_dual);
      if (dual.wrong()) explain(dual, differences);
    } else if (differences.wrong()) {
      fail_at(*differences.wrong());
      report_.likely_cause =
          "the oracles disagree, and dual numbers confirm backward(): both miss a contribution, as "
          "where the forward pass computes with double instead of Real, or a rule of Dual is wrong";
    } else {
      report_.note = std::move(note);
    }
    refuse_small_errors();
  }

  void check_second_order() {
    if (const auto found = check_hessian(checked_, report_))
      fail_at(*found);
    else if (report_.second_undecided == report_.elements)
      fail("nothing of second order could be compared: choose inputs away from kinks");
  }

  void explain(const Comparison& dual, const Comparison& differences) {
    const WrongGradient& found = *dual.wrong();
    const bool small = dual.max_error() <= checked_.options.tolerance_differences;
    if (!small && differences.confirms(found.parameter, found.worst().index)) {
      report_.likely_cause =
          "the oracles disagree, and differences confirm backward(): the forward pass computes with "
          "double instead of Real, which has no tangent, or a rule of Dual is wrong";
      return;
    }
    Diagnosis diagnosis = dual.diagnose_parameter(found.parameter);
    report_.likely_cause = std::move(diagnosis.cause);
    report_.pattern = std::move(diagnosis.pattern);
  }

  // Counts the undecided elements and returns the note. An element that neither oracle decides is
  // counted once, with those that dual numbers do not prove.
  std::string count_undecided(const Comparison& dual, const Comparison& differences) {
    struct Group {
      const Comparison& by;
      const char* what;
      Dim count = 0;
      std::string first = {};
    } groups[] = {{dual, "not proved by dual numbers"},
                  {differences, "checked by dual numbers alone"}};
    for (std::size_t p = 0; p < checked_.gradients.size(); ++p)
      for (std::size_t j = 0; j < checked_.gradients[p].size(); ++j)
        for (auto& [by, what, count, first] : groups) {
          if (by.verdict(p, j) != Comparison::Verdict::undecided) continue;
          const auto& [name, tensor] = checked_.parameters[p];
          if (count++ == 0)
            first = name + index_text(tensor.shape(), static_cast<Dim>(j)) + ": " + by.reason(p, j);
          ++report_.undecided;
          break;
        }
    std::string note;
    for (const auto& [by, what, count, first] : groups)
      if (count > 0)
        note += (note.empty() ? "" : "; ") + std::to_string(count) + " of " +
                std::to_string(report_.elements) +
                (count == 1 ? " elements is " : " elements are ") + what + ", first " + first;
    return note;
  }

  // An oracle that refuses the gradient has no small error: the number would look like a success.
  void refuse_small_errors() {
    const GradcheckOptions& options = checked_.options;
    if (report_.wrong_by_dual && report_.max_error_dual <= options.tolerance_dual)
      report_.max_error_dual = infinity;
    if (report_.wrong_by_differences &&
        report_.max_error_differences <= options.tolerance_differences)
      report_.max_error_differences = infinity;
  }

  GradcheckReport report_;
  CheckedGradients checked_;
};

}  // namespace

GradcheckReport gradcheck(const std::function<Tensor()>& f,
                          const std::vector<NamedTensor>& parameters,
                          const GradcheckOptions& options) {
  for (const double tolerance : {options.tolerance_dual, options.tolerance_differences})
    require<ValueError>(std::isfinite(tolerance) && tolerance > 0, "gradcheck",
                        "the tolerance must be positive and finite: got ", tolerance);
  require<ValueError>(options.order == 1 || options.order == 2, "gradcheck",
                      "the order must be 1 or 2: got ", options.order);
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

namespace {

// The gradients of some inputs while the others are constants: those of all inputs together. The
// rule of an op with several arguments may forget to ask which of them are wanted.
void check_mixtures(const std::function<Tensor(const std::vector<Tensor>&)>& f,
                    const std::vector<NamedTensor>& inputs, std::uint64_t seed,
                    GradcheckReport& report) {
  std::vector<Tensor> x;
  if (inputs.size() < 2) return;
  for (const NamedTensor& input : inputs) x.push_back(input.tensor);
  const Tensor y = f(x);
  const Array v = random_cotangent(y.shape(), seed);
  const Gradients all = gradients_of(y, inputs, v);
  const std::size_t n = inputs.size();
  std::vector<std::vector<bool>> mixtures;  // which inputs are wanted
  for (std::size_t bits = 1; n <= 4 && bits + 1 < (std::size_t{1} << n); ++bits)
    for (std::size_t i = mixtures.emplace_back(n).size(); i-- > 0;)
      mixtures.back()[i] = (bits >> i & 1) != 0;
  for (std::size_t i = 0; n > 4 && i < 2 * n; ++i) {  // one, and all but one
    mixtures.emplace_back(n, i >= n);
    mixtures.back()[i % n].flip();
  }
  for (const std::vector<bool>& is_wanted : mixtures) {
    std::vector<NamedTensor> some;
    Gradients expected;
    std::string constant;
    for (std::size_t i = 0; i < n; ++i) {
      x[i] = is_wanted[i] ? inputs[i].tensor : Tensor(inputs[i].tensor.value());
      if (is_wanted[i]) {
        some.push_back(inputs[i]);
        expected.push_back(all[i]);
      } else {
        constant += (constant.empty() ? "" : ", ") + inputs[i].name;
      }
    }
    if (const auto found =
            first_difference(gradients_of(f(x), some, v), expected, 1e-9,
                             "a gradient is another while these are constants: " + constant))
      return write_problem(*found, some, report);
  }
}

}  // namespace

GradcheckReport gradcheck(const std::function<Tensor(const std::vector<Tensor>&)>& f,
                          const std::vector<Array>& inputs, const GradcheckOptions& options) {
  std::vector<Tensor> tensors;
  std::vector<NamedTensor> named;
  for (const Array& input : inputs) {
    tensors.push_back(parameter(input.clone()));
    named.push_back({"input " + std::to_string(named.size()), tensors.back()});
  }
  GradcheckReport report = gradcheck([&] { return f(tensors); }, named, options);
  if (report) check_mixtures(f, named, options.seed, report);
  return report;
}

std::vector<Shape> other_parameters(const std::function<Tensor()>& f,
                                    const std::vector<NamedTensor>& parameters) {
  const Tensor y = f();
  std::map<std::uint64_t, Shape> others;  // in the order in which they were made
  for (const Node* const leaf : leaves_of(y)) others.emplace(leaf->id, leaf->shape);
  for (const NamedTensor& known : parameters) others.erase(known.tensor.node()->id);
  std::vector<Shape> shapes;
  for (const auto& [id, shape] : others) shapes.push_back(shape);
  return shapes;
}

std::vector<std::string> jacobian_pattern(
    const std::function<Tensor(const std::vector<Tensor>&)>& f, const std::vector<Array>& inputs) {
  std::vector<Tensor> tensors;
  for (const Array& input : inputs) tensors.push_back(parameter(input.clone()));
  std::vector<std::string> pictures;
  for (const Tensor& x : tensors) {
    std::vector<std::string> lines(static_cast<std::size_t>(f(tensors).size()));
    for (Dim j = 0; j < x.size(); ++j) {
      const Array y = forward_derivatives([&] { return f(tensors); }, x, j);
      for (Dim i = 0; i < y.size(); ++i)
        lines[static_cast<std::size_t>(i)] += y[i].tangent == 0 ? '0' : '1';
    }
    pictures.emplace_back();
    for (const std::string& line : lines) pictures.back() += line + "\n";
  }
  return pictures;
}

// -- the report in words ---------------------------------------------------------------------------

namespace {

using message::digits;

// Both numbers with as many digits, six at least, as it takes for them to differ.
std::pair<std::string, std::string> digits_that_differ(double a, double b) {
  int count = 6;
  while (count < 17 && a != b && digits(a, count) == digits(b, count)) ++count;
  return {digits(a, count), digits(b, count)};
}

std::string found_by(const GradcheckReport& report) {
  if (report.wrong_by_dual)
    return report.wrong_by_differences ? " by dual numbers and differences" : " by dual numbers";
  return report.wrong_by_differences ? " by differences" : " expected";
}

// A line for each of the worst elements, under titles.
std::string table_of(const std::vector<GradcheckElement>& worst) {
  std::vector<std::array<std::string, 5>> rows{
      {"index", "by backward()", "expected", "ratio", "difference"}};
  for (const GradcheckElement& e : worst) {
    const auto [analytic, expected] = digits_that_differ(e.analytic, e.expected);
    rows.push_back({e.index, analytic, expected,
                    e.expected == 0 ? "-" : digits(e.analytic / e.expected),
                    digits(e.analytic - e.expected)});
  }
  std::array<std::size_t, 5> widths{};
  for (const auto& row : rows)
    for (std::size_t i = 0; i < 5; ++i) widths[i] = std::max(widths[i], row[i].size());
  std::string text;
  for (auto& row : rows) {
    text += "\n    ";
    for (std::size_t i = 0; i < 4; ++i) row[i].resize(widths[i] + 2, ' ');
    for (const std::string& cell : row) text += cell;
  }
  return text;
}

}  // namespace

std::string to_string(const GradcheckReport& report) {
  std::string text = (report.ok ? "ok" : report.problem) + ": ";
  if (!report.tensor.empty()) {
    const auto [analytic, expected] = digits_that_differ(report.analytic, report.expected);
    text += report.tensor + report.index + " is " + analytic + " by backward(), " + expected +
            found_by(report) + "; ";
  }
  text += std::to_string(report.elements) + " elements";
  auto add_error = [&, before = ", largest error "](double error, const char* oracle) mutable {
    if (std::isinf(error)) return;  // there is none
    text += before + digits(error) + oracle;
    before = ", ";
  };
  add_error(report.max_error_dual, " (dual)");
  add_error(report.max_error_differences, " (differences)");
  if (report.max_error_second > 0) add_error(report.max_error_second, " (second order)");
  if (report.second_undecided > 0)
    text += "; of second order, " + std::to_string(report.second_undecided) + " of " +
            std::to_string(report.elements) + " not compared";
  if (report.unreached > 0)
    text += "; outputs that depend on no input: " + std::to_string(report.unreached);
  if (!report.note.empty()) text += "; " + report.note;
  if (!report.pattern.empty()) text += "; " + report.pattern;
  if (!report.likely_cause.empty()) text += "; likely cause: " + report.likely_cause;
  if (report.worst.size() > 1) text += table_of(report.worst);
  return text;
}

}  // namespace fledge
