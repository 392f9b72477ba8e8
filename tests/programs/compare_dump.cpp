// Compares a model with what PyTorch computed from it: the largest relative error of the logits,
// the loss and every gradient. Works with dual numbers, as float would round away what it compares.
//
//   compare_dump FOLDER    what add_reference() of tests/parity/torch_folders.py wrote
//
// It has a model as read_model() reads it, and beside it reference.safetensors with x, y, logits, loss
// and NAME.grad for every tensor of the model's file. A target −1 in y is padding. Without a folder
// the dumps that are kept beside the tests are compared.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "engine/autograd.h"
#include "nn/gpt/weights.h"
#include "nn/io/files.h"

namespace fs = std::filesystem;
using namespace fledge;

namespace {

constexpr double largest_error = 1e-12;

// max |found − expected| / max |expected|, each over all elements; infinity for other shapes or
// NaN.
double relative_error(const Array& found, const Array& expected) {
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

// The tensors of a safetensors file. Throws FormatError if a number is not finite.
std::map<std::string, Array> stored_arrays(const std::string& path) {
  const std::string bytes = read_file(path);
  std::map<std::string, Array> arrays;
  for (const StoredTensor& tensor : stored_header(bytes).tensors) {
    Array& numbers = arrays[tensor.name] = Array(tensor.shape);
    read_numbers(bytes, tensor, numbers.write());
  }
  return arrays;
}

// An array of whole numbers, as such.
Indices whole_numbers(const Array& array) {
  const std::vector<double> numbers = to_vector(array);
  return {array.shape(), std::vector<Dim>(numbers.begin(), numbers.end())};
}

// The relative error of each quantity of the folder, computed here. Throws FormatError naming one
// that the reference lacks, or one of its tensors that nothing is compared with.
std::vector<std::pair<std::string, double>> dump_errors(const std::string& folder) {
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

// Whether all of the folder's quantities agree.
bool compare(const std::string& folder) {
  bool agree = true;
  double worst = 0;
  for (const auto& [quantity, error] : dump_errors(folder)) {
    std::printf("%-28s %8.1e%s\n", quantity.c_str(), error,
                error <= largest_error ? "" : "  too large");
    agree = agree && error <= largest_error;
    worst = std::max(worst, error);
  }
  std::printf("%-28s %8.1e  %s\n\n", "largest", worst, folder.c_str());
  return agree;
}

}  // namespace

int main(int argc, char** argv) try {
  const fs::path dumps = fs::path(__FILE__).parent_path().parent_path() / "nn" / "gpt" / "dumps";
  std::vector<std::string> folders(argv + 1, argv + argc);
  if (folders.empty())
    folders = {dumps / "bias", dumps / "no_bias", dumps / "llama", dumps / "starcoder2"};
  bool agree = true;
  for (const std::string& folder : folders) agree = compare(folder) && agree;
  return agree ? 0 : 1;
} catch (const std::exception& error) {
  std::fprintf(stderr, "compare_dump: %s\n", error.what());
  return 2;
}
