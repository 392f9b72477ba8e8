#include "nn/gpt/folder.h"

#include <cerrno>
#include <chrono>
#include <thread>

#include "nn/io/checksum.h"
#include "nn/io/files.h"

namespace fledge {

namespace {

// f(), its complaint given the name of the file it is about.
template <class Error = InvalidFile, class F>
auto about(const std::string& path, F f) {
  try {
    return f();
  } catch (const FileError&) {
    throw;
  } catch (const std::bad_alloc&) {
    throw;
  } catch (const std::exception& error) {
    throw Error("cannot read '" + escaped_name(path) + "': " + error.what());
  }
}

constexpr const char* config_name = "config.json";
constexpr const char* weights_name = "model.safetensors";

std::string read(const Folder& folder, const char* name, std::uint64_t most) {
  std::optional<std::string> bytes = folder.read(name, most);
  if (!bytes) fail_reading(folder.file(name), ENOENT);
  return std::move(*bytes);
}

// A model that has an identity belongs to a configuration that has the same. One without may be put
// beside any.
void require_one_identity(const JsonValue& own, const StoredHeader& header,
                          const std::string& path) {
  const auto found = header.metadata.find("id");
  if (found == header.metadata.end()) return;
  const bool has_id = own.kind() == JsonValue::Kind::object && own.has("id");
  if (!has_id || own["id"].string() != found->second)
    throw MixedFiles("cannot read '" + escaped_name(path) +
                     "': it was written for another config.json than the one beside it");
}

SavedModel read_once(const Folder& folder) {
  const std::string config_path = folder.file(config_name);
  const std::string weights_path = folder.file(weights_name);
  std::string text = read(folder, config_name, most_json_bytes);
  ModelConfig config = about(config_path, [&] { return read_config(text); });
  const std::string bytes = read(folder, weights_name, most_weights_bytes(config.sizes));
  StoredHeader header = about(weights_path, [&] { return stored_header(bytes); });
  if (!config.says_bias) config.sizes.bias = bias_in(header);
  about(config_path, [&] { require_one_identity(config.own, header, weights_path); });
  about<OtherModel>(weights_path, [&] { require_weights(header, config.sizes); });
  about(weights_path, [&] { require_checksum(bytes, header); });
  Rng rng(0);
  SavedModel saved{LanguageModel(config.sizes, rng), std::move(text), config.own, {}};
  about(weights_path, [&] { load_weights(saved.model, bytes, header); });
  saved.metadata = std::move(header.metadata);
  return saved;
}

}  // namespace

SavedModel read_model(const Folder& folder) {
  constexpr int most_tries = 5;
  for (int tries = 1;; ++tries) try {
      return read_once(folder);
    } catch (const MixedFiles&) {
      if (tries == most_tries) throw;
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
}

SavedModel read_model(const std::string& folder) {
  return read_model(Folder(folder, {config_name, weights_name}));
}
void write_model(const std::string& folder, const LanguageModel& model,
                 const std::function<void(JsonWriter&)>& own,
                 const std::map<std::string, std::string>& metadata) {
  write_file(folder + "/model.safetensors", weights_bytes(model, metadata));
  write_file(folder + "/config.json", config_json(model.sizes, own));
}

}  // namespace fledge
