// A model, one batch, and what another program computed from it: logits, loss and gradients.
//
// A folder as read_model() reads it, and beside it reference.safetensors with x, y, logits, loss
// and NAME.grad for every tensor of the model's file. A target −1 in y is padding.
#pragma once

#include <algorithm>
#include <cmath>
#include <set>
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

/// The tensors of a safetensors file, which are read by name.
class StoredArrays {
 public:
  explicit StoredArrays(const std::string& path)
      : path_(path), bytes_(read_file(path)), header_(stored_header(bytes_)) {}

  /// Throws FormatError if there is no such tensor, or if a number is not finite.
  Array operator[](const std::string& name) {
    for (const StoredTensor& tensor : header_.tensors)
      if (tensor.name == name) {
        Array numbers(tensor.shape);
        read_numbers(bytes_, tensor, numbers.write());
        read_.insert(name);
        return numbers;
      }
    throw FormatError(path_ + " has no tensor " + in_quotes(name));
  }

  /// Throws FormatError naming a tensor that was not read: then it was compared with nothing.
  void require_all_read() const {
    for (const StoredTensor& tensor : header_.tensors)
      if (!read_.contains(tensor.name))
        throw FormatError(path_ +
                          " has a tensor that nothing is compared with: " + in_quotes(tensor.name));
  }

 private:
  std::string path_, bytes_;
  StoredHeader header_;
  std::set<std::string> read_;
};

/// An array of whole numbers, as such.
inline Indices whole_numbers(const Array& array) {
  const std::vector<double> numbers = to_vector(array);
  return {array.shape(), std::vector<Dim>(numbers.begin(), numbers.end())};
}

/// The relative error of each quantity of the folder, computed here.
inline std::vector<std::pair<std::string, double>> dump_errors(const std::string& folder) {
  const SavedModel saved = read_model(folder);
  StoredArrays reference(folder + "/reference.safetensors");
  const Tensor logits = saved.model(whole_numbers(reference["x"]));
  const Tensor loss = cross_entropy(logits, whole_numbers(reference["y"]), -1);
  backward(loss);
  std::vector<std::pair<std::string, double>> errors{
      {"logits", relative_error(logits.value(), reference["logits"])},
      {"loss", relative_error(loss.value().with_shape({1}), reference["loss"])}};
  for (const StoredPart& part : stored_parts(saved.model)) {
    const std::string name = part.name + ".grad";
    errors.emplace_back(name, relative_error(part.of(part.parameter.grad()), reference[name]));
  }
  reference.require_all_read();
  return errors;
}

}  // namespace tests
