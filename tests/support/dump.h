// A model, one batch, and what another program computed from it: logits, loss and gradients.
//
// A folder as read_model() reads it, and beside it reference.safetensors with x, y, logits, loss
// and NAME.grad for every parameter.
#pragma once

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "engine/autograd.h"
#include "nn/gpt/folder.h"
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

/// The relative error of each quantity of the folder, computed here.
inline std::vector<std::pair<std::string, double>> dump_errors(const std::string& folder) {
  const SavedModel saved = read_model(folder);
  const std::string bytes = read_file(folder + "/reference.safetensors");
  const StoredHeader header = stored_header(bytes);
  const auto array = [&](const std::string& name) {
    for (const StoredTensor& tensor : header.tensors)
      if (tensor.name == name) {
        Array numbers(tensor.shape);
        read_numbers(bytes, tensor, numbers.write());
        return numbers;
      }
    throw FileError("read", folder, "the reference has no " + name);
  };
  const auto ids = [&](const std::string& name) {
    const Array numbers = array(name);
    std::vector<Dim> whole;
    for (Dim i = 0; i < numbers.size(); ++i)
      whole.push_back(static_cast<Dim>(value_of(numbers[i])));
    return Indices(numbers.shape(), whole);
  };
  const Tensor logits = saved.model(ids("x"));
  const Tensor loss = cross_entropy(logits, ids("y"));
  backward(loss);
  std::vector<std::pair<std::string, double>> errors{
      {"logits", relative_error(logits.value(), array("logits"))},
      {"loss", relative_error(loss.value().with_shape({1}), array("loss"))}};
  for (const auto& [name, parameter] : named_parameters(saved.model))
    errors.emplace_back(name + ".grad", relative_error(parameter.grad(), array(name + ".grad")));
  return errors;
}

}  // namespace tests
