#include "nn/gpt/weights.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <filesystem>
#include <set>

#include "nn/io/checksum.h"

namespace fledge {

namespace {

constexpr const char* config_name = "config.json";

std::string cannot_read(const std::string& path) { return "cannot read " + in_quotes(path); }

constexpr const char* pickle = "a Python pickle, which can run code";

// Files and folders that are there in the place of the weights: what they are, and what to do.
constexpr std::array<const char*, 3> other_weights[] = {
    {"adapter_config.json", "of an adapter, which changes another model",
     "merge them with merge_and_unload() and save the whole model"},
    {"pytorch_model.bin", pickle, save_again_advice},
    {"pytorch_model.bin.index.json", "the index of Python pickles, which can run code",
     save_again_advice},
    {"pytorch_model.pt", pickle, save_again_advice},
    {"tf_model.h5", "a file of TensorFlow", save_again_advice},
    {"flax_model.msgpack", "a file of Flax", save_again_advice},
    {"model.onnx", "a file of ONNX", save_again_advice},
    {"onnx", "a folder with files of ONNX", save_again_advice}};

[[noreturn]] void refuse_missing_weights(const Folder& folder) {
  const auto refuse = [&](const std::string& name, const char* problem, const char* advice) {
    throw FormatError(cannot_read(folder.file(name)) + ": it is " + problem, advice);
  };
  for (const auto& [name, what, advice] : other_weights)
    if (folder.has(name)) refuse(name, what, advice);
  for (const std::string& name : folder.names())
    if (name.ends_with(".gguf"))
      refuse(name, "a file of llama.cpp", other_file_advice);
    else if (name.ends_with(".safetensors") && name.find("-of-") == std::string::npos)
      refuse(name, "not named model.safetensors, as the weights of a folder are",
             "if these are the weights, name the file so");
    else if (name.ends_with(".safetensors"))
      refuse(name, "one of several files with the weights, and fledge reads one",
             "save the model again with a large max_shard_size, as model.safetensors");
  throw FileError("read", folder.file(weights_name), ENOENT);
}

// For a folder without config.json. The cache of huggingface_hub has the folders snapshots/COMMIT,
// and in the file refs/main the commit that is used.
[[noreturn]] void refuse_missing_config(const Folder& folder) {
  const std::filesystem::path snapshots = folder.path() + std::string("/snapshots");
  std::vector<std::string> models;
  std::error_code error;
  for (std::filesystem::directory_iterator entry(snapshots, error), none; !error && entry != none;
       entry.increment(error))
    if (std::error_code unknown; std::filesystem::exists(entry->path() / config_name, unknown))
      models.push_back(entry->path().string());
  std::sort(models.begin(), models.end());
  if (models.empty()) throw FileError("read", folder.file(config_name), ENOENT);
  std::string main = folder.read("refs/main", 1000).value_or("");
  main.erase(main.find_last_not_of(" \r\n") + 1);
  const std::string used = (snapshots / main).string();
  const bool is_there = std::find(models.begin(), models.end(), used) != models.end();
  throw FormatError(in_quotes(folder.path()) + " is the cache of a model: the model is in " +
                        in_quotes(is_there ? used : models.back()),
                    "name that folder");
}

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
        model.sizes.bias == Bias::without && !bias.empty())
      arrays.push_back({bias, Array::zeros({tensor.dim(1)}), type});
  }
  return arrays;
}

WeightFile open_weight_file(const Folder& folder) {
  std::optional<ByteSource> bytes = folder.open(weights_name);
  if (!bytes) refuse_missing_weights(folder);
  const std::string path = folder.file(weights_name);
  StoredHeader header = located_at(cannot_read(path), [&] { return stored_header(*bytes); });
  return {path, std::move(*bytes), std::move(header)};
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

SavedModel read_model(const Folder& folder, const std::function<ModelConfig(std::string)>& reader) {
  std::optional<std::string> text = folder.read(config_name, most_json_bytes);
  if (!text && folder.has(other_weights[0][0])) refuse_missing_weights(folder);
  if (!text) refuse_missing_config(folder);
  ModelConfig config =
      located_at(cannot_read(folder.file(config_name)), [&] { return reader(std::move(*text)); });
  const WeightFile file = open_weight_file(folder);
  return located_at(cannot_read(file.path), [&]() -> SavedModel {
    if (!file.header.text("checksum").empty()) require_checksum(file.bytes, file.header.end);
    if (!config.says_bias)
      config.sizes.bias =
          tensors_of(file.header).contains("h.0.attn.c_attn.bias") ? Bias::with : Bias::without;
    return {read_weights(file, config.sizes), std::move(config), file.header.text("step")};
  });
}

}  // namespace fledge
