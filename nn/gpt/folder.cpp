#include "nn/gpt/folder.h"

#include <cerrno>
#include <chrono>
#include <thread>

#include "nn/io/checksum.h"

namespace fledge {

namespace {

constexpr const char* config_name = "config.json";
constexpr const char* weights_name = "model.safetensors";

template <class F>
auto reading(const std::string& path, F f) {
  return located_at("cannot read " + in_quotes(path), f);
}

std::string read(const Folder& folder, const char* name, std::uint64_t most) {
  std::optional<std::string> bytes = folder.read(name, most);
  if (!bytes) throw FileError("read", folder.file(name), ENOENT);
  return std::move(*bytes);
}

// Whether the weights belong to this config.json: both have the same "id". Weights without an "id",
// such as GPT-2's, belong to any.
bool have_one_identity(const JsonValue& own, const StoredHeader& header) {
  const auto found = header.metadata.find("id");
  if (found == header.metadata.end()) return true;
  const bool has_id = own.is_object() && own.has("id");
  return has_id && own["id"].string() == found->second;
}

}  // namespace

SavedModel read_model(const Folder& folder, const std::function<ModelConfig(std::string)>& reader) {
  constexpr int most_tries = 5;
  const std::string config_path = folder.file(config_name), path = folder.file(weights_name);
  for (int tries = 1;; ++tries) {
    ModelConfig config =
        reading(config_path, [&] { return reader(read(folder, config_name, most_json_bytes)); });
    const std::string bytes = read(folder, weights_name, most_weights_bytes(config.sizes));
    const StoredHeader header = reading(path, [&] { return stored_header(bytes); });
    if (!reading(config_path, [&] { return have_one_identity(config.own, header); })) {
      if (tries == most_tries)
        throw FormatError("cannot read " + in_quotes(path) +
                          ": it was written for another config.json than the one beside it");
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
      continue;
    }
    if (!config.says_bias) config.sizes.bias = bias_in(header);
    return reading(path, [&] {
      require_weights(header, config.sizes);
      require_checksum(bytes, header);
      SavedModel saved{LanguageModel(config.sizes, InitialWeights::none()), std::move(config)};
      load_weights(saved.model, bytes, header);
      return saved;
    });
  }
}

SavedModel read_model(const std::string& folder) {
  return read_model(Folder(folder, {config_name, weights_name}));
}

}  // namespace fledge
