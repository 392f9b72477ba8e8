#include "nn/gpt/weights.h"

#include <algorithm>

#include "nn/gpt/config.h"

namespace fledge {

namespace {

// GPT-2's models with an output head put "transformer." before all names but that of the head,
// DistributedDataParallel and torch.compile put theirs before all names.
std::string_view without_prefix(std::string_view name) {
  for (const std::string_view prefix : {"module.", "_orig_mod.", "module.", "transformer."})
    if (name.starts_with(prefix)) name.remove_prefix(prefix.size());
  return name;
}

// h.N.attn.bias and h.N.attn.masked_bias hold the causal mask and its minus infinity.
bool is_mask(std::string_view name) {
  const std::size_t digits = name.starts_with("h.") ? name.find('.', 2) : std::string::npos;
  const std::string_view rest = digits == std::string::npos ? "" : name.substr(digits);
  return rest == ".attn.bias" || rest == ".attn.masked_bias";
}

// The name of the bias beside a weight of a linear layer; "" for other parameters.
std::string bias_beside(const std::string& name) {
  constexpr std::string_view weight = ".weight";
  const bool is_linear = name.find(".c_") != std::string::npos && name.ends_with(weight);
  return is_linear ? name.substr(0, name.size() - weight.size()) + ".bias" : "";
}

// Calls f(first, numbers, count) for the numbers of a tensor, at most 65,536 at a time.
template <class F>
void read_in_parts(const ByteSource& file, const StoredTensor& whole, F f) {
  const Dim width = static_cast<Dim>(find_dtype(whole.dtype)->bytes), most = 1 << 16;
  std::vector<Real> part;
  for (Dim first = 0; first < whole.shape.size(); first += most) {
    const Dim count = std::min(most, whole.shape.size() - first);
    part.resize(static_cast<std::size_t>(count));
    StoredTensor tensor = whole;
    tensor.begin += static_cast<std::uint64_t>(first * width);
    tensor.end = tensor.begin + static_cast<std::uint64_t>(count * width);
    read_numbers(file, tensor, part.data());
    f(first, part.data(), count);
  }
}

// Removes the biases of a model without biases from the tensors. They must be zeros.
void remove_zero_biases(const ByteSource& file, NamedTensors& tensors,
                        const NamedShapes& expected) {
  for (const auto& [name, shape] : expected) {
    const auto bias = tensors.find(bias_beside(name));
    if (bias == tensors.end()) continue;
    read_in_parts(file, *bias->second, [&](Dim first, const Real* numbers, Dim count) {
      for (Dim i = 0; i < count; ++i)
        require<FormatError>(numbers[i] == Real(0), "its tensors", in_quotes(bias->first),
                             " must be zeros, because config.json says that there are no biases: "
                             "number ",
                             first + i, " is ", value_of(numbers[i]));
    });
    tensors.erase(bias);
  }
}

void require_tied_head(const ByteSource& file, const StoredTensor& head, const Array& table) {
  read_in_parts(file, head, [&](Dim first, const Real* numbers, Dim count) {
    for (Dim i = 0; i < count; ++i)
      require<FormatError>(numbers[i] == table[first + i], "its tensors",
                           "lm_head.weight must be wte.weight here: they differ at ", first + i);
  });
}

NamedTensors tensors_of(const StoredHeader& header) {
  NamedTensors tensors;
  for (const StoredTensor& tensor : header.tensors)
    if (const std::string_view name = without_prefix(tensor.name); !is_mask(name))
      require<FormatError>(tensors.emplace(name, &tensor).second, "its tensors", in_quotes(name),
                           " occurs twice, with and without a prefix");
  return tensors;
}

}  // namespace

std::vector<NamedArray> named_weights(const LanguageModel& model, const Dtype* type) {
  std::vector<NamedArray> arrays;
  for (const auto& [name, tensor] : named_parameters(model)) {
    arrays.push_back({name, tensor.value(), type});
    if (const std::string bias = bias_beside(name);
        model.sizes.bias == Bias::without && !bias.empty())
      arrays.push_back({bias, Array::zeros({tensor.dim(1)}), type});
  }
  return arrays;
}

std::string weights_bytes(const LanguageModel& model,
                          const std::map<std::string, std::string>& metadata) {
  return stored_bytes(named_weights(model), metadata);
}

LanguageModel read_weights(const WeightFile& file, const LanguageModelSizes& sizes) {
  if (parameter_count(sizes) > static_cast<double>(file.bytes.size()))
    throw FormatError("the model has " + json_number(parameter_count(sizes)) +
                      " numbers, and the file has " + std::to_string(file.bytes.size()) + " bytes");
  LanguageModel model(sizes, InitialWeights::none());
  NamedShapes expected;
  const auto named = named_parameters(model);
  for (const auto& [name, tensor] : named) expected.emplace_back(name, tensor.shape());
  NamedTensors tensors = tensors_of(file.header);
  if (sizes.bias == Bias::without) remove_zero_biases(file.bytes, tensors, expected);
  // save_model() of safetensors keeps one name of the two of a tied table.
  if (!tensors.contains("wte.weight"))
    if (auto head = tensors.extract("lm_head.weight")) {
      head.key() = "wte.weight";
      tensors.insert(std::move(head));
    }
  const bool has_head = tensors.contains("lm_head.weight");
  if (has_head) expected.emplace_back("lm_head.weight", model.wte.weight.shape());
  const auto found = find_tensors(std::move(tensors), expected);
  for (std::size_t i = 0; i < named.size(); ++i)
    read_numbers(file.bytes, *found[i], named[i].second.write());
  if (has_head) require_tied_head(file.bytes, *found.back(), model.wte.weight.value());
  return model;
}

Bias bias_in(const WeightFile& file) {
  return tensors_of(file.header).contains("h.0.attn.c_attn.bias") ? Bias::with : Bias::without;
}

}  // namespace fledge
