#include "nn/gpt/folder.h"

#include <algorithm>
#include <cerrno>
#include <filesystem>

#include "nn/io/checksum.h"

namespace fledge {

namespace {

constexpr const char* config_name = "config.json";

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

SavedModel read_model(const Folder& folder, const std::function<ModelConfig(std::string)>& reader) {
  const auto reading = [&](const std::string& path, auto f) {
    return located_at("cannot read " + in_quotes(path), f);
  };
  std::optional<std::string> text = folder.read(config_name, most_json_bytes);
  if (!text && folder.has("adapter_config.json")) refuse_missing_weights(folder);
  if (!text) refuse_missing_config(folder);
  ModelConfig config = reading(folder.file(config_name), [&] { return reader(std::move(*text)); });
  const WeightFile file = open_weight_file(folder);
  return reading(file.path, [&]() -> SavedModel {
    if (!file.header.text("checksum").empty()) require_checksum(file.bytes, file.header.end);
    if (!config.says_bias) config.sizes.bias = bias_in(file);
    return {read_weights(file, config.sizes), std::move(config), file.header.text("step")};
  });
}

}  // namespace fledge
