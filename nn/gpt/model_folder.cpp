// A model in a folder: config.json and model.safetensors. What a folder has in the place of either.
#include <algorithm>
#include <array>
#include <cerrno>
#include <filesystem>

#include "nn/gpt/weights.h"
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

}  // namespace

WeightFile open_weight_file(const Folder& folder) {
  std::optional<ByteSource> bytes = folder.open(weights_name);
  if (!bytes) refuse_missing_weights(folder);
  const std::string path = folder.file(weights_name);
  StoredHeader header = located_at(cannot_read(path), [&] { return stored_header(*bytes); });
  return {path, std::move(*bytes), std::move(header)};
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
    if (!config.says_bias) config.sizes.bias = stored_bias(file);
    return {read_weights(file, config.sizes), std::move(config), file.header.text("step")};
  });
}

}  // namespace fledge
