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
void read_in_parts(const PlacedTensor& placed, F f) {
  const Dim width = static_cast<Dim>(find_dtype(placed.tensor->dtype)->bytes), most = 1 << 16;
  std::vector<Real> part;
  for (Dim first = 0; first < placed.tensor->shape.size(); first += most) {
    const Dim count = std::min(most, placed.tensor->shape.size() - first);
    part.resize(static_cast<std::size_t>(count));
    StoredTensor tensor = *placed.tensor;
    tensor.begin += static_cast<std::uint64_t>(first * width);
    tensor.end = tensor.begin + static_cast<std::uint64_t>(count * width);
    read_numbers(*placed.file, tensor, part.data());
    f(first, part.data(), count);
  }
}

// Removes the biases of a model without biases from the tensors. They must be zeros.
void remove_zero_biases(PlacedTensors& placed, const NamedShapes& expected) {
  for (const auto& [name, shape] : expected) {
    const auto bias = placed.find(bias_beside(name));
    if (bias == placed.end()) continue;
    read_in_parts(bias->second, [&](Dim first, const Real* numbers, Dim count) {
      for (Dim i = 0; i < count; ++i)
        require<FormatError>(numbers[i] == Real(0), "its tensors", in_quotes(bias->first),
                             " must be zeros, because config.json says that there are no biases: "
                             "number ",
                             first + i, " is ", value_of(numbers[i]));
    });
    placed.erase(bias);
  }
}

void require_tied_head(const PlacedTensor& head, const Array& table) {
  read_in_parts(head, [&](Dim first, const Real* numbers, Dim count) {
    for (Dim i = 0; i < count; ++i)
      require<FormatError>(numbers[i] == table[first + i], "its tensors",
                           "lm_head.weight must be wte.weight here: they differ at ", first + i);
  });
}

PlacedTensors tensors_of(const std::vector<WeightFile>& files) {
  PlacedTensors placed;
  for (const WeightFile& file : files)
    for (const StoredTensor& tensor : file.header.tensors)
      if (const std::string_view name = without_prefix(tensor.name); !is_mask(name))
        require<FormatError>(placed.emplace(name, PlacedTensor{&file.bytes, &tensor}).second,
                             "its tensors", in_quotes(name),
                             " occurs twice, with and without a prefix");
  return placed;
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

LanguageModel read_weights(const std::vector<WeightFile>& files, const LanguageModelSizes& sizes) {
  std::uint64_t bytes = 0;
  for (const WeightFile& file : files) bytes += file.bytes.size();
  if (parameter_count(sizes) > static_cast<double>(bytes))
    throw FormatError("config.json describes " + json_number(parameter_count(sizes)) +
                      " numbers, and the file has " + std::to_string(bytes) + " bytes");
  LanguageModel model(sizes, InitialWeights::none());
  NamedShapes expected;
  const auto named = named_parameters(model);
  for (const auto& [name, tensor] : named) expected.emplace_back(name, tensor.shape());
  PlacedTensors placed = tensors_of(files);
  if (sizes.bias == Bias::without) remove_zero_biases(placed, expected);
  // save_model() of safetensors keeps one name of the two of a tied table.
  if (!placed.contains("wte.weight"))
    if (auto head = placed.extract("lm_head.weight")) {
      head.key() = "wte.weight";
      placed.insert(std::move(head));
    }
  const bool has_head = placed.contains("lm_head.weight");
  if (has_head) expected.emplace_back("lm_head.weight", model.wte.weight.shape());
  const auto tensors = find_tensors(std::move(placed), expected);
  for (std::size_t i = 0; i < named.size(); ++i) tensors[i].read_numbers(named[i].second.write());
  if (has_head) require_tied_head(tensors.back(), model.wte.weight.value());
  return model;
}

Bias bias_in(const std::vector<WeightFile>& files) {
  return tensors_of(files).contains("h.0.attn.c_attn.bias") ? Bias::with : Bias::without;
}

}  // namespace fledge
