#include <algorithm>

#include "engine/gradcheck/op_cases.h"
#include "examples/fledge/gradients/table.h"

namespace fledge {

namespace {

Subject subject_of(const OpCase& op, std::uint64_t seed) {
  Rng rng(seed);
  std::vector<Tensor> tensors;
  std::vector<NamedTensor> named;
  for (const Array& x : op.draw(op.calls()[0], rng)) {
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

// Adds a row for each oracle. Every element must be proved by both. An element that differences
// cannot decide makes their row fail.
void add_rows(const std::string& name, const std::string& shapes, const GradcheckReport& found,
              std::vector<report::CheckRow>& rows) {
  const bool wrong_before = !found.wrong_by_dual && !found.wrong_by_differences && !found.ok;
  const auto add = [&](const char* oracle, double max_error, bool ok) {
    rows.push_back(
        {name, shapes, oracle, found.elements, max_error, ok, ok ? "" : to_string(found)});
  };
  add("dual", found.max_error_dual, !found.wrong_by_dual && !wrong_before);
  add("differences", found.undecided > 0 ? infinity : found.max_error_differences,
      !found.wrong_by_differences && !wrong_before && found.undecided == 0);
}

bool is_wanted(const std::string& row, const std::vector<std::string>& names) {
  return names.empty() || std::any_of(names.begin(), names.end(), [&](const std::string& name) {
           return report::is_named(row, name);
         });
}

}  // namespace

const std::vector<GradientCase>& gradient_cases() {
  static const std::vector<GradientCase> cases = [] {
    std::vector<GradientCase> all;
    for (const OpCase& op : op_cases())
      all.push_back(
          {op.name, shapes_of(op), [&op](std::uint64_t seed) { return subject_of(op, seed); }});
    for (const ModuleCase& module : module_cases())
      all.push_back({module.name, module.shapes, [&module](std::uint64_t seed) {
                       return module.make(seed, module.inputs[0]);
                     }});
    return all;
  }();
  return cases;
}

std::vector<report::CheckRow> check_gradients(const report::CheckRequest& request) {
  std::vector<report::CheckRow> rows;
  for (const GradientCase& row : gradient_cases()) {
    if (!is_wanted(row.name, request.names)) continue;
    const Subject subject = row.make(request.seed);
    const GradcheckReport found = gradcheck(subject.f, subject.inputs, {.seed = request.seed});
    add_rows(row.name, row.shapes, found, rows);
  }
  return rows;
}

std::vector<std::string> gradient_names() {
  std::vector<std::string> names;
  for (const GradientCase& row : gradient_cases()) names.push_back(row.name);
  return names;
}

}  // namespace fledge
