// A model, one batch, and what another program computed from it: logits, loss and gradients.
//
// A folder as read_model() reads it, and beside it reference.safetensors with x, y, logits, loss
// and NAME.grad for every tensor of the model's file. A target −1 in y is padding.
#pragma once

#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "engine/autograd.h"
#include "nn/gpt/weights.h"
#include "nn/io/files.h"

namespace tests {

using namespace fledge;

/// max |found − expected| / max |expected|, each over all elements; infinity for other shapes or
/// NaN.
inline double relative_error(const Array& found, const Array& expected) {
  if (!(found.shape() == expected.shape())) return infinity;
  double worst = 0, most = 0;
  for (Dim i = 0; i < found.size(); ++i) {
    const double error = std::abs(value_of(found[i]) - value_of(expected[i]));
    if (std::isnan(error)) return infinity;
    worst = std::max(worst, error);
    most = std::max(most, std::abs(value_of(expected[i])));
  }
  return worst == 0 ? 0 : worst / most;
}

/// The tensors of a safetensors file. Throws FormatError if a number is not finite.
inline std::map<std::string, Array> stored_arrays(const std::string& path) {
  const std::string bytes = read_file(path);
  std::map<std::string, Array> arrays;
  for (const StoredTensor& tensor : stored_header(bytes).tensors) {
    Array& numbers = arrays[tensor.name] = Array(tensor.shape);
    read_numbers(bytes, tensor, numbers.write());
  }
  return arrays;
}

/// An array of whole numbers, as such.
inline Indices whole_numbers(const Array& array) {
  const std::vector<double> numbers = to_vector(array);
  return {array.shape(), std::vector<Dim>(numbers.begin(), numbers.end())};
}

/// The relative error of each quantity of the folder, computed here. Throws FormatError naming one
/// that the reference lacks, or one of its tensors that nothing is compared with.
inline std::vector<std::pair<std::string, double>> dump_errors(const std::string& folder) {
  const SavedModel saved = read_model(folder);
  const std::string path = folder + "/reference.safetensors";
  std::map<std::string, Array> reference = stored_arrays(path);
  const auto take = [&](const std::string& name) {
    const auto found = reference.extract(name);
    if (found.empty()) throw FormatError(path + " has no tensor " + in_quotes(name));
    return found.mapped();
  };
  const Tensor logits = saved.model(whole_numbers(take("x")));
  const Tensor loss = cross_entropy(logits, whole_numbers(take("y")), -1);
  backward(loss);
  std::vector<std::pair<std::string, double>> errors{
      {"logits", relative_error(logits.value(), take("logits"))},
      {"loss", relative_error(loss.value().with_shape({1}), take("loss"))}};
  for (const StoredPart& part : stored_parts(saved.model)) {
    const std::string name = part.name + ".grad";
    errors.emplace_back(name, relative_error(part.of(part.parameter.grad()), take(name)));
  }
  if (!reference.empty())
    throw FormatError(path + " has a tensor that nothing is compared with: " +
                      in_quotes(reference.begin()->first));
  return errors;
}

}  // namespace tests
