#include "nn/gpt/folder.h"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <thread>

#include "nn/io/checksum.h"

namespace fledge {

namespace {

constexpr const char* config_name = "config.json";

// Whether the weights belong to this config.json: both have the same "id". If one of them has none,
// as in GPT-2's folders, they belong together.
bool have_one_identity(const JsonValue& own, const std::vector<WeightFile>& files) {
  return own.is_null() || std::all_of(files.begin(), files.end(), [&](const WeightFile& file) {
           const std::string id = file.header.text("id");
           return id.empty() || (own.has("id") && own["id"].string() == id);
         });
}

}  // namespace

SavedModel read_model(const Folder& folder, const std::function<ModelConfig(std::string)>& reader) {
  const auto reading = [&](const std::string& path, auto f) {
    return located_at("cannot read " + in_quotes(path), f);
  };
  const std::string config_path = folder.file(config_name);
  for (int tries = 1;; ++tries) {
    ModelConfig config = reading(config_path, [&] {
      std::optional<std::string> text = folder.read(config_name, most_json_bytes);
      if (!text) throw FileError("read", config_path, ENOENT);
      return reader(std::move(*text));
    });
    const std::vector<WeightFile> files = open_weight_files(folder);
    const bool is_one = reading(config_path, [&] { return have_one_identity(config.own, files); });
    if (!is_one && tries < 5) {
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
      continue;
    }
    for (const WeightFile& file : files)
      if (is_one && !file.header.text("checksum").empty())
        reading(file.path, [&] { return require_checksum(file.bytes, file.header.end); });
    const std::string path = files.size() == 1 ? files[0].path : folder.file(shard_index_name);
    return reading(path, [&]() -> SavedModel {
      if (!is_one)
        throw FormatError("it was written for another config.json than the one beside it");
      if (!config.says_bias) config.sizes.bias = bias_in(files);
      return {read_weights(files, config.sizes), std::move(config), files[0].header.text("step")};
    });
  }
}

}  // namespace fledge
