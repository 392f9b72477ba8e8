// The table of gradients: the rows of the ops, then those of the modules, each proved by both oracles.
//
// Compiled for Dual; the command that prints the table is compiled for float. A new op gets its row
// in engine/gradcheck/op_cases.cpp, a new module in nn/module_cases.cpp.
#include <algorithm>
#include <cmath>
#include <exception>
#include <new>

#include "engine/autograd.h"
#include "engine/base/interrupt.h"
#include "engine/gradcheck/comparison.h"
#include "engine/gradcheck/diagnosis.h"
#include "engine/gradcheck/op_cases.h"
#include "engine/gradcheck/oracle.h"
#include "examples/fledge/gradients/gradients.h"
#include "examples/support/run_main.h"
#include "nn/module_cases.h"

namespace fledge {

namespace {

Subject subject_of(const OpCase& op, std::uint64_t seed, const std::vector<Shape>& shapes) {
  Rng rng(seed);
  std::vector<Tensor> tensors;
  std::vector<NamedTensor> named;
  for (const Array& x : op.draw(shapes, rng)) {
    tensors.push_back(parameter(x));
    named.push_back({"input " + std::to_string(named.size()), tensors.back()});
  }
  return {[f = op.f, tensors] { return f(tensors); }, named};
}

std::string shapes_of(const OpCase& op) {
  std::string text;
  for (const Input& input : op.inputs) text += (text.empty() ? "" : " ") + to_string(input.shape);
  return text;
}

/// A row of the table; the seed draws the inputs.
struct GradientCase {
  std::string name, shapes;
  std::function<Subject(std::uint64_t seed, const std::vector<Shape>& inputs)> make;
  std::vector<std::vector<Shape>> calls = {{}};  // shapes of inputs; of a module it has one choice
};

/// The ops, then the modules.
const std::vector<GradientCase>& gradient_cases() {
  static const std::vector<GradientCase> cases = [] {
    std::vector<GradientCase> all;
    for (const OpCase& op : op_cases())
      all.push_back(
          {op.name, shapes_of(op),
           [&op](std::uint64_t seed, const auto& shapes) { return subject_of(op, seed, shapes); },
           op.calls()});
    for (const ModuleCase& module : module_cases())
      all.push_back({module.name, module.shapes, [&module](std::uint64_t seed, const auto&) {
                       return module.make(seed, module.inputs[0]);
                     }});
    return all;
  }();
  return cases;
}

// Every element must be proved by both oracles. An element that differences cannot decide is a
// failure.
report::CheckRow row_of(const GradientCase& row, const GradcheckReport& found) {
  const bool wrong_before = !found.wrong_by_dual && !found.wrong_by_differences && !found.ok;
  report::CheckRow checked{
      row.name,
      row.shapes,
      found.elements,
      {"dual", found.max_error_dual, !found.wrong_by_dual && !wrong_before},
      {"differences", found.undecided > 0 ? infinity : found.max_error_differences,
       !found.wrong_by_differences && !wrong_before && found.undecided == 0},
      ""};
  if (!checked.ok()) checked.problem = to_string(found);
  return checked;
}

// A row that throws has failed; the others are checked all the same.
report::CheckRow checked_row(const GradientCase& row, std::uint64_t seed) {
  try {
    const Subject subject = row.make(seed, row.calls[0]);
    return row_of(row, gradcheck(subject.f, subject.inputs, {.seed = seed}));
  } catch (const Interrupted&) {
    throw;
  } catch (const std::bad_alloc&) {  // a matter of the machine, not of the row
    throw;
  } catch (const std::exception& error) {
    GradcheckReport thrown;
    thrown.problem = std::string("it throws: ") + error.what();
    thrown.max_error_dual = thrown.max_error_differences = infinity;
    return row_of(row, thrown);
  }
}

/// While it lives, it notes what each rule adds to element j of the gradient of a leaf.
class UsesOf : public GraphObserver {
 public:
  UsesOf(const Tensor& leaf, Dim j) : leaf_(leaf.node().get()), j_(j), before_(graph_observer) {
    graph_observer = this;
  }
  ~UsesOf() override { graph_observer = before_; }
  UsesOf(const UsesOf&) = delete;
  UsesOf& operator=(const UsesOf&) = delete;

  const std::vector<report::Use>& uses() const { return uses_; }

 private:
  void inspect(const Node& node, const Array& numbers, const Node* input) override {
    if (input != leaf_) return;
    const double total = value_of(numbers[j_]);
    uses_.push_back({std::string(node.op), total - total_});
    total_ = total;
  }

  const Node* leaf_;
  Dim j_;
  GraphObserver* before_;
  double total_ = 0;
  std::vector<report::Use> uses_;
};

std::string element_text(const std::string& tensor, const Shape& shape, Dim j) {
  std::string text = shape.rank() == 0 ? tensor : tensor + index_text(shape, j);
  std::erase(text, ' ');
  return text;
}

/// "x", or "x0", "x1" of several: the names of an op's inputs. A module's tensors have their own.
std::string short_name(const Subject& subject, std::size_t p) {
  const std::string& name = subject.inputs[p].name;
  if (!name.starts_with("input ")) return name;
  return subject.inputs.size() == 1 ? "x" : "x" + std::to_string(p);
}

/// The number of the tensor that the request names.
std::size_t find_tensor(const Subject& subject, const report::ExplainRequest& request) {
  if (request.tensor.empty()) return 0;
  std::string names;
  for (std::size_t p = 0; p < subject.inputs.size(); ++p) {
    const std::string name = short_name(subject, p);
    if (request.tensor == name || request.tensor == std::to_string(p)) return p;
    names += (p > 0 ? ", " : "") + name;
  }
  support::refuse_usage("'" + request.row + "' has no such tensor", "its tensors are: " + names);
}

/// The number of the element in row order.
Dim find_element(const Shape& shape, const report::ExplainRequest& request,
                 const std::string& tensor) {
  bool is_inside = static_cast<int>(request.index.size()) == shape.rank();
  Dim j = 0;
  for (int axis = 0; is_inside && axis < shape.rank(); ++axis) {
    const std::int64_t i = request.index[static_cast<std::size_t>(axis)];
    is_inside = i >= 0 && i < shape[axis];
    j = j * shape[axis] + i;
  }
  if (is_inside) return j;
  support::refuse_usage("the index is not inside " + tensor + " of shape " + to_string(shape),
                        "the last element is " + element_text(tensor, shape, shape.size() - 1));
}

void follow_paths(const Subject& subject, const Tensor& x, Dim j, const Array& v,
                  report::Explanation& found) {
  const Array y = forward_derivatives(subject.f, x, j);
  double scale = 0, size = 0;
  for (Dim i = 0; i < y.size(); ++i) {
    size += std::abs(v[i].value * y[i].value);
    if (y[i].tangent == 0) {
      ++found.other_outputs;
      continue;
    }
    found.paths.push_back({element_text("y", y.shape(), i), y[i].tangent, v[i].value});
    found.by_paths += found.paths.back().part();
    scale += std::abs(found.paths.back().part());
  }
  const double noise = 4 * std::numeric_limits<double>::epsilon() * size;
  for (const report::Use& use : found.uses) scale = std::max(scale, std::abs(use.part));
  found.paths_agree =
      std::abs(found.by_paths - found.by_backward) <= gradcheck_tolerance_dual * scale + noise;

  const Oracle differences{Method::differences, subject.f, v, gradcheck_tolerance_differences};
  const Derivative slope = differences.at(x, j, found.by_backward);
  found.by_differences = slope.value;
  found.differences_decide = slope.converged;
  found.differences_agree = std::abs(slope.value - found.by_backward) <=
                            gradcheck_tolerance_differences * scale + slope.noise;
}

constexpr double float_tolerance = 1e-4;

report::Numbers numbers_of(const std::string& name, const Array& x) {
  report::Numbers numbers{name, {x.shape().begin(), x.shape().end()}, {}};
  for (Dim j = 0; j < x.size(); ++j) numbers.numbers.push_back(static_cast<float>(value_of(x[j])));
  return numbers;
}

/// The problem of one call, and its errors in `result`.
GradcheckReport compare_call(const Subject& subject, const Array& v,
                             const std::vector<report::Numbers>& answer,
                             report::AgainstResult& result) {
  GradcheckReport found;
  found.wrong_by_dual = true;
  const auto compare = [&](const std::string& name, const Shape& shape, std::size_t at,
                           const std::vector<double>& expected, const std::vector<double>& scales) {
    std::vector<WrongElement> worst;
    std::vector<double> analytic;
    if (expected.empty()) return analytic;
    const double least = 0.01 * *std::max_element(scales.begin(), scales.end());
    for (std::size_t j = 0; j < expected.size(); ++j) {
      const double number = answer[at].numbers[j],
                   error = std::abs(number - expected[j]) / std::max(scales[j], least);
      const bool is_right = number == expected[j] || error <= float_tolerance;
      analytic.push_back(is_right ? expected[j] : number);
      if (!is_right) add_worst(worst, {j, number, expected[j], error});
      if (number != expected[j] && (std::isnan(error) || error > result.max_error))
        result.max_error = error;  // no error is above NaN
    }
    result.elements += std::ssize(expected);
    found.elements += std::ssize(expected);
    if (worst.empty() || !found.problem.empty()) return analytic;
    for (const WrongElement& e : worst)
      found.worst.push_back({index_text(shape, static_cast<Dim>(e.index)), e.analytic, e.expected});
    found.problem = at == 0 ? "the output is wrong" : "the gradient is wrong";
    found.tensor = name;
    found.index = found.worst[0].index;
    found.analytic = found.worst[0].analytic;
    found.expected = found.worst[0].expected;
    return analytic;
  };
  const Array y = subject.f().value();
  const std::vector<double> outputs = to_vector(y);
  double size = 0;
  for (const double x : outputs) size = std::max(size, std::abs(x));
  compare("y", y.shape(), 0, outputs, std::vector<double>(outputs.size(), size));
  const Oracle oracle{Method::dual, subject.f, v, gradcheck_tolerance_dual};
  for (std::size_t p = 0; p < subject.inputs.size() && found.problem.empty(); ++p) {
    const Tensor& x = subject.inputs[p].tensor;
    std::vector<double> expected, scales;
    for (Dim j = 0; j < x.size(); ++j) {
      const Derivative slope = oracle.at(x, j, 0);
      expected.push_back(slope.value);
      scales.push_back(slope.scale);
    }
    const std::vector<double> analytic =
        compare("d" + short_name(subject, p), x.shape(), p + 1, expected, scales);
    if (found.problem.empty()) continue;
    // Numbers of float agree in fewer digits than a cause needs, but for the largest ones.
    const double zero = 2e-7 * *std::max_element(scales.begin(), scales.end());
    found.likely_cause = diagnose(analytic, expected, x.shape(), zero,
                                  known_mistakes(subject.f, subject.inputs, p, v),
                                  known_summands(subject.f, subject.inputs, p, v))
                             .cause;
  }
  found.ok = found.problem.empty();
  found.max_error_dual = result.max_error;
  found.max_error_differences = infinity;
  return found;
}

}  // namespace

std::vector<report::CheckRow> check_gradients(const std::vector<std::string>& names,
                                              std::uint64_t seed) {
  std::vector<report::CheckRow> rows;
  for (const GradientCase& row : gradient_cases())
    if (names.empty() || std::any_of(names.begin(), names.end(), [&](const std::string& name) {
          return report::is_named(row.name, name);
        }))
      rows.push_back(checked_row(row, seed));
  return rows;
}

std::vector<std::string> gradient_names() {
  std::vector<std::string> names;
  for (const GradientCase& row : gradient_cases()) names.push_back(row.name);
  return names;
}

report::AgainstResult check_against(const std::string& row, std::uint64_t seed,
                                    const report::Program& program) {
  report::AgainstResult result;
  const std::vector<GradientCase>& cases = gradient_cases();
  const auto known = std::find_if(cases.begin(), cases.end(),
                                  [&](const GradientCase& c) { return c.name == row; });
  // The row's own shapes three times, then its others that are not empty and of the same ranks.
  std::vector<std::vector<Shape>> calls(3, known->calls[0]);
  for (const std::vector<Shape>& other : known->calls)
    if (&other != &known->calls[0] &&
        std::equal(
            other.begin(), other.end(), calls[0].begin(), calls[0].end(),
            [](const Shape& a, const Shape& b) { return a.size() > 0 && a.rank() == b.rank(); }))
      calls.push_back(other);
  for (; result.calls < calls.size() && result.problem.empty(); ++result.calls) {
    const std::uint64_t drawn = seed + result.calls;
    const Subject subject = known->make(drawn, calls[result.calls]);
    std::vector<report::Numbers> inputs, answer{{"y", {}, {}}};
    for (std::size_t p = 0; p < subject.inputs.size(); ++p) {
      const Tensor& x = subject.inputs[p].tensor;
      inputs.push_back(numbers_of(short_name(subject, p), x.value()));
      for (Dim j = 0; j < x.size(); ++j)  // as the program gets them
        x.write()[j] = Real(inputs[p].numbers[static_cast<std::size_t>(j)]);
      answer.push_back({"d" + inputs[p].name, inputs[p].shape, {}});
    }
    Array v = random_cotangent(subject.f().shape(), drawn);
    inputs.push_back(numbers_of("dy", v));
    for (Dim i = 0; i < v.size(); ++i)
      v.write()[i] = Real(inputs.back().numbers[static_cast<std::size_t>(i)]);
    answer[0].shape = inputs.back().shape;
    program(inputs, answer);
    const GradcheckReport found = compare_call(subject, v, answer, result);
    if (found.ok) continue;
    result.problem = to_string(found);
    for (const auto& [ours, theirs] : {std::pair("by backward(), ", "by the program, "),
                                       std::pair("by backward()  ", "by program     ")})
      if (const std::size_t place = result.problem.find(ours); place != std::string::npos)
        result.problem.replace(place, std::string(ours).size(), theirs);
  }
  return result;
}

report::Explanation explain_gradient(const report::ExplainRequest& request) {
  const std::vector<GradientCase>& cases = gradient_cases();
  const auto known = std::find_if(cases.begin(), cases.end(),
                                  [&](const GradientCase& c) { return c.name == request.row; });
  const Subject subject = known->make(request.seed, known->calls[0]);
  const std::size_t p = find_tensor(subject, request);
  const Tensor& x = subject.inputs[p].tensor;
  report::Explanation found{request.row, short_name(subject, p)};
  const Dim j = find_element(x.shape(), request, found.tensor);
  found.element = element_text(found.tensor, x.shape(), j);
  found.tensor_shape = to_string(x.shape());
  Array v;
  {  // the oracles write to x, and so the graph must be gone by then
    const Tensor y = subject.f();
    v = random_cotangent(y.shape(), request.seed);
    found.output_shape = to_string(y.shape());
    const UsesOf uses(x, j);
    found.by_backward = gradients_of(y, subject.inputs, v)[p][static_cast<std::size_t>(j)];
    found.uses = uses.uses();
  }
  follow_paths(subject, x, j, v, found);
  return found;
}

}  // namespace fledge
