#include <algorithm>

#include "examples/fledge/gradients/table.h"

namespace fledge {

namespace {

Array drawn(const Input& input, Rng& rng) {
  if (input.draw == Draw::normal) return random_normal(input.shape, 0, 1, rng);
  if (input.draw == Draw::positive) return random_uniform(input.shape, 0.5, 2.5, rng);
  std::vector<double> values;
  const Dim below_zero = input.shape.size() / 2;
  for (Dim i = 0; i < input.shape.size(); ++i)
    values.push_back(0.25 * static_cast<double>(i - below_zero) + 0.125);
  rng.shuffle(values);
  return {input.shape, values};
}

GradcheckReport check(const OpCase& op, std::uint64_t seed) {
  Rng rng(seed);
  std::vector<Array> inputs;
  for (const Input& input : op.inputs) inputs.push_back(drawn(input, rng));
  return gradcheck(op.f, inputs, {.seed = seed});
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

std::vector<report::CheckRow> check_gradients(const report::CheckRequest& request) {
  std::vector<report::CheckRow> rows;
  for (const OpCase& op : op_cases())
    if (is_wanted(op.name, request.names))
      add_rows(op.name, shapes_of(op), check(op, request.seed), rows);
  for (const ModuleCase& module : module_cases())
    if (is_wanted(module.name, request.names))
      add_rows(module.name, module.shapes, module.check(request.seed), rows);
  return rows;
}

std::vector<std::string> gradient_names() {
  std::vector<std::string> names;
  for (const OpCase& op : op_cases()) names.push_back(op.name);
  for (const ModuleCase& module : module_cases()) names.push_back(module.name);
  return names;
}

}  // namespace fledge
