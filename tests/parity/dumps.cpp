#include "tests/parity/dumps.h"

#include "nn/optim/adamw.h"
#include "nn/optim/optimizer.h"
#include "tests/parity/ops.h"
#include "tests/support/dump.h"

namespace parity {

using tests::relative_error;
using tests::StoredArrays;
using tests::whole_numbers;

namespace {

// clip_grad_norm_ multiplies by clip / (norm + 1e-6), so the norm becomes a little less than clip.
double clip_as_pytorch(const std::vector<Tensor>& parameters, double clip) {
  const double norm = clip_gradients(parameters, infinity);
  clip_gradients(parameters, clip * norm / (norm + 1e-6));
  return norm;
}

Array as_array(const std::vector<double>& numbers) {
  return {Shape{static_cast<Dim>(numbers.size())}, numbers};
}

Tensor loss_of_step(const LanguageModel& model, const Array& x, const Array& y, Dim step) {
  const Shape shape = x.shape().without(0);
  const Dim begin = step * shape.size();
  return cross_entropy(model(whole_numbers(x, begin, shape)), whole_numbers(y, begin, shape),
                       tests::padding_target);
}

struct Program {
  std::vector<Tensor> values;  // of each step; those of "input" are parameters
  std::set<std::size_t> used;  // the values that are arguments
  std::set<std::string> ops;
};

Program run(const JsonValue& steps, StoredArrays& reference) {
  Program program;
  std::vector<Tensor>& values = program.values;
  steps.each_item([&](const JsonValue& step) {
    const std::string name = step["op"].string();
    if (name == "input") {
      values.push_back(parameter(reference["value." + std::to_string(values.size())]));
      return;
    }
    std::vector<Tensor> arguments;
    step["from"].each_item([&](const JsonValue& from) {
      const auto last = static_cast<std::int64_t>(values.size()) - 1;
      const auto i = static_cast<std::size_t>(from.integer(0, last));
      arguments.push_back(values[i]);
      program.used.insert(i);
    });
    const auto op = ops().find(name);
    if (op == ops().end()) step["op"].fail("must be an op of tests/parity/ops.cpp");
    values.push_back(op->second(arguments, step));
    program.ops.insert(name);
  });
  return program;
}

}  // namespace

std::pair<std::string, double> largest(const Errors& errors) {
  std::pair<std::string, double> worst{"", 0};
  for (const auto& [name, error] : errors)
    if (!(error <= worst.second)) worst = {name, std::isnan(error) ? infinity : error};
  return worst;
}

Errors training_errors(const std::string& folder) {
  const SavedModel saved = read_model(folder);
  const JsonValue settings = read_json(read_file(folder + "/training.json"));
  StoredArrays reference(folder + "/training.safetensors");
  const auto named = named_parameters(saved.model);
  const std::vector<Tensor> learned = parameters(saved.model);
  std::vector<double> decay_factors;
  for (const Tensor& tensor : learned) decay_factors.push_back(tensor.rank() >= 2 ? 1 : 0);
  AdamW optimizer(learned,
                  {.beta1 = settings["beta1"].number(),
                   .beta2 = settings["beta2"].number(),
                   .eps = settings["eps"].number(),
                   .decay = settings["decay"].number()},
                  decay_factors);
  const Array x = reference["x"], y = reference["y"];
  std::vector<double> losses, norms;
  settings["rates"].each_item([&](const JsonValue& rate) {
    zero_grad(learned);
    const auto step = static_cast<Dim>(losses.size());
    if (step == x.dim(0)) rate.fail("must be one of as many rates as there are batches");
    const Tensor loss = loss_of_step(saved.model, x, y, step);
    losses.push_back(loss.item());
    backward(loss);
    norms.push_back(clip_as_pytorch(learned, settings["clip"].number()));
    optimizer.options.rate = rate.number();
    optimizer.step();
  });
  Errors errors{{"losses", relative_error(as_array(losses), reference["losses"])},
                {"norms", relative_error(as_array(norms), reference["norms"])}};
  for (const auto& [name, weight] : named)
    errors.emplace_back(name, relative_error(weight.value(), reference[name + ".after"]));
  reference.require_all_read();
  return errors;
}

ProgramErrors program_errors(const std::string& folder) {
  const JsonValue program = read_json(read_file(folder + "/program.json"));
  StoredArrays reference(folder + "/reference.safetensors");
  const auto [values, used, names] = run(program["steps"], reference);
  ProgramErrors errors{{}, {}, names};
  Tensor loss(0.0);
  for (std::size_t i = 0; i < values.size(); ++i) {
    const std::string number = std::to_string(i);
    if (!used.contains(i) || values[i].is_parameter())
      loss = loss + sum(values[i] * Tensor(reference["cotangent." + number]));
    errors.values.emplace_back("value." + number,
                               relative_error(values[i].value(), reference["value." + number]));
  }
  backward(loss);
  for (std::size_t i = 0; i < values.size(); ++i)
    if (const std::string name = "gradient." + std::to_string(i); values[i].is_parameter())
      errors.gradients.emplace_back(name, relative_error(values[i].grad(), reference[name]));
  reference.require_all_read();
  return errors;
}

}  // namespace parity
