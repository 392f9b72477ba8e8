#include "nn/gpt/weights.h"

#include <algorithm>

#include "nn/gpt/config.h"

namespace fledge {

namespace {

// GPT-2's models with an output head put "transformer." before all names.
std::string_view without_prefix(std::string_view name) {
  constexpr std::string_view prefix = "transformer.";
  return name.starts_with(prefix) ? name.substr(prefix.size()) : name;
}

// h.N.attn.bias and h.N.attn.masked_bias hold the causal mask and its minus infinity.
bool is_mask(std::string_view name) {
  const std::size_t digits = name.starts_with("h.") ? name.find('.', 2) : std::string::npos;
  const std::string_view rest = digits == std::string::npos ? "" : name.substr(digits);
  return rest == ".attn.bias" || rest == ".attn.masked_bias";
}

}  // namespace

std::vector<const StoredTensor*> find_tensors(StoredTensors stored, const NamedShapes& expected) {
  std::vector<const StoredTensor*> result;
  for (const auto& [name, shape] : expected) {
    const auto found = stored.find(name);
    const bool is_there = found != stored.end();
    require<FormatError>(is_there && found->second->shape == shape, "its tensors", in_quotes(name),
                         " must have shape ", to_string(shape), ": the file has ",
                         is_there ? to_string(found->second->shape) : "none");
    result.push_back(found->second);
    stored.erase(found);
  }
  if (!stored.empty())
    throw FormatError("its tensors: " + in_quotes(stored.begin()->first) + " is not in the model");
  return result;
}

std::string weights_bytes(const LanguageModel& model,
                          const std::map<std::string, std::string>& metadata) {
  std::vector<NamedArray> arrays;
  for (const auto& [name, tensor] : named_parameters(model))
    arrays.push_back({name, tensor.value()});
  return stored_bytes(std::move(arrays), metadata);
}

LanguageModel read_weights(std::string_view file, const StoredHeader& header,
                           const LanguageModelSizes& sizes) {
  if (parameter_count(sizes) > static_cast<double>(file.size()))
    throw FormatError("config.json describes " + json_number(parameter_count(sizes)) +
                      " numbers, and the file has " + std::to_string(file.size()) + " bytes");
  LanguageModel model(sizes, InitialWeights::none());
  StoredTensors stored;
  NamedShapes expected;
  const auto named = named_parameters(model);
  for (const auto& [name, tensor] : named) expected.emplace_back(name, tensor.shape());
  for (const StoredTensor& tensor : header.tensors)
    if (const std::string_view name = without_prefix(tensor.name); !is_mask(name))
      require<FormatError>(stored.emplace(name, &tensor).second, "its tensors", in_quotes(name),
                           " stands twice, once behind 'transformer.'");
  const bool has_head = stored.contains("lm_head.weight");
  if (has_head) expected.emplace_back("lm_head.weight", model.wte.weight.shape());
  const auto tensors = find_tensors(std::move(stored), expected);
  for (std::size_t i = 0; i < named.size(); ++i)
    read_numbers(file, *tensors[i], named[i].second.write());
  if (!has_head) return model;
  Array head(model.wte.weight.shape());
  read_numbers(file, *tensors.back(), head.write());
  for (Dim i = 0; i < head.size(); ++i)
    require<FormatError>(head[i] == model.wte.weight.value()[i], "its tensors",
                         "lm_head.weight must be wte.weight here: they differ at ", i);
  return model;
}

Bias bias_in(const StoredHeader& header) {
  const bool found =
      std::any_of(header.tensors.begin(), header.tensors.end(), [](const StoredTensor& tensor) {
        return without_prefix(tensor.name) == "h.0.attn.c_attn.bias";
      });
  return found ? Bias::with : Bias::without;
}

}  // namespace fledge
