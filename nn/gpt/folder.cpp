#include "nn/gpt/folder.h"

#include <cerrno>
#include <chrono>
#include <thread>

namespace fledge {

namespace {

constexpr const char *config_name = "config.json", *weights_name = "model.safetensors";

std::string read(const Folder& folder, const char* name, std::uint64_t most) {
  std::optional<std::string> bytes = folder.read(name, most);
  if (!bytes) throw FileError("read", folder.file(name), ENOENT);
  return std::move(*bytes);
}

// Whether the weights belong to this config.json: both have the same "id". Weights without an "id",
// such as GPT-2's, belong to any.
bool have_one_identity(const JsonValue& own, const StoredHeader& header) {
  const std::string id = header.text("id");
  return id.empty() || (own.is_object() && own.has("id") && own["id"].string() == id);
}

}  // namespace

SavedModel read_model(const Folder& folder, const std::function<ModelConfig(std::string)>& reader) {
  const auto reading = [&](const char* name, auto f) {
    return located_at("cannot read " + in_quotes(folder.file(name)), f);
  };
  for (int tries = 1;; ++tries) {
    ModelConfig config =
        reading(config_name, [&] { return reader(read(folder, config_name, most_json_bytes)); });
    const std::string bytes = read(folder, weights_name, most_file_bytes(config.sizes));
    const StoredHeader header = reading(weights_name, [&] { return stored_header(bytes); });
    const bool is_one = reading(config_name, [&] { return have_one_identity(config.own, header); });
    if (!is_one && tries < 5) {
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
      continue;
    }
    return reading(weights_name, [&]() -> SavedModel {
      if (!is_one)
        throw FormatError("it was written for another config.json than the one beside it");
      if (!config.says_bias) config.sizes.bias = bias_in(header);
      if (!header.text("checksum").empty()) require_checksum(bytes);
      return {read_weights(bytes, header, config.sizes), std::move(config), header.text("step")};
    });
  }
}

}  // namespace fledge
