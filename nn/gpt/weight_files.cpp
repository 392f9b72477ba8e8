#include "nn/gpt/weight_files.h"

#include <cerrno>
#include <set>

#include "engine/base/errors.h"

namespace fledge {

namespace {

std::string cannot_read(const std::string& path) { return "cannot read " + in_quotes(path); }

constexpr const char* pickle = "a Python pickle, which can run code";

// Files and folders with weights in other formats, and what they are.
constexpr std::pair<const char*, const char*> other_weights[] = {
    {"pytorch_model.bin", pickle},
    {"pytorch_model.bin.index.json", "the index of Python pickles, which can run code"},
    {"pytorch_model.pt", pickle},
    {"tf_model.h5", "a file of TensorFlow"},
    {"flax_model.msgpack", "a file of Flax"},
    {"model.onnx", "a file of ONNX"},
    {"onnx", "a folder with files of ONNX"}};

}  // namespace

void refuse_missing_weights(const Folder& folder) {
  const auto refuse = [&](const std::string& name, const char* problem, const char* advice) {
    throw FormatError(cannot_read(folder.file(name)) + ": it is " + problem, advice);
  };
  if (folder.has("adapter_config.json"))
    refuse("adapter_config.json", "of an adapter, which changes another model",
           "merge them with merge_and_unload() and save the whole model");
  for (const auto& [name, what] : other_weights)
    if (folder.has(name)) refuse(name, what, save_again_advice);
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

}  // namespace fledge
