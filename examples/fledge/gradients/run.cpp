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

report::CheckRow row(const std::string& name, const std::string& shapes,
                     const GradcheckReport& found) {
  return {name,
          shapes,
          gradcheck_oracle,
          found.elements,
          found.max_error,
          found.ok,
          found.ok ? "" : to_string(found)};
}

bool wanted(const std::string& name, const std::string& only) {
  return only.empty() || name == only || name.rfind(only + " ", 0) == 0;
}

}  // namespace

std::vector<report::CheckRow> check_gradients(const report::CheckRequest& request) {
  std::vector<report::CheckRow> rows;
  for (const OpCase& op : op_cases())
    if (wanted(op.name, request.only))
      rows.push_back(row(op.name, shapes_of(op), check(op, request.seed)));
  for (const ModuleCase& module : module_cases())
    if (wanted(module.name, request.only))
      rows.push_back(row(module.name, module.shapes, module.check(request.seed)));
  return rows;
}

std::vector<std::string> gradient_names() {
  std::vector<std::string> names;
  for (const OpCase& op : op_cases()) names.push_back(op.name);
  for (const ModuleCase& module : module_cases()) names.push_back(module.name);
  return names;
}

}  // namespace fledge
