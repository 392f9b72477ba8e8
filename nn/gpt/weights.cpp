#include "nn/gpt/weights.h"

#include <algorithm>
#include <set>

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

// Removes the biases of a model without biases from the tensors. They must be zeros.
void remove_zero_biases(const ByteSource& file, NamedTensors& tensors,
                        const NamedShapes& expected) {
  for (const auto& [name, shape] : expected) {
    const auto bias = tensors.find(bias_beside(name));
    if (bias == tensors.end()) continue;
    const Array numbers = read_array(file, *bias->second);
    for (Dim i = 0; i < numbers.size(); ++i)
      require<FormatError>(numbers[i] == Real(0), "its tensors", in_quotes(bias->first),
                           " must be zeros, because config.json says that there are no biases: "
                           "number ",
                           i, " is ", value_of(numbers[i]));
    tensors.erase(bias);
  }
}

void require_tied_head(const Array& head, const Array& table) {
  for (Dim i = 0; i < head.size(); ++i)
    require<FormatError>(head[i] == table[i], "its tensors",
                         "lm_head.weight must be wte.weight here: they differ at ", i);
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
        model.sizes.bias == Bias::without && model.sizes.recipe.is_gpt2() && !bias.empty())
      arrays.push_back({bias, Array::zeros({tensor.dim(1)}), type});
  }
  return arrays;
}

std::vector<const StoredTensor*> find_tensors(NamedTensors tensors, const NamedShapes& expected) {
  std::vector<const StoredTensor*> result;
  std::set<std::string_view> names;
  for (const auto& [name, shape] : expected) names.insert(name);
  // Up to three tensors that are not expected: what the missing one may be called in the file.
  const auto others = [&] {
    std::string list;
    int count = 0;
    for (const auto& [name, tensor] : tensors)
      if (!names.contains(name) && count++ < 3) list += (count > 1 ? ", " : "") + in_quotes(name);
    return list.empty() ? ""
                        : "; it has " + list + (count > 3 ? ", …" : "") +
                              ", which GPT-2's model does not have";
  };
  for (const auto& [name, shape] : expected) {
    const auto found = tensors.find(name);
    const bool is_there = found != tensors.end();
    if (!is_there || found->second->shape != shape)
      throw FormatError("its tensors: " + in_quotes(name) + " must have shape " + to_string(shape) +
                        ": the file has " +
                        (is_there ? to_string(found->second->shape) : "none" + others()));
    result.push_back(found->second);
    tensors.erase(found);
  }
  if (!tensors.empty())
    throw FormatError("its tensors: " + in_quotes(tensors.begin()->first) + " is not in the model");
  return result;
}

Array read_array(const ByteSource& file, const StoredTensor& tensor) {
  Array array(tensor.shape);
  read_numbers(file, tensor, array.write());
  return array;
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
  if (has_head) require_tied_head(read_array(file.bytes, *found.back()), model.wte.weight.value());
  return model;
}

Bias stored_bias(const WeightFile& file) {
  return tensors_of(file.header).contains("h.0.attn.c_attn.bias") ? Bias::with : Bias::without;
}

}  // namespace fledge
