#include "nn/models/model_folder.h"

namespace fledge::inline FLEDGE_BUILD {

namespace {

constexpr std::uint64_t most_config = 64 << 20;  // bytes

// f(), its complaint given the name of the file it is about.
template <class F>
auto about(const std::string& path, F f) {
  try {
    return f();
  } catch (const FileError&) {
    throw;
  } catch (const std::bad_alloc&) {
    throw;
  } catch (const std::exception& error) {
    throw WrongFile("cannot read '" + shown_name(path) + "': " + error.what());
  }
}

}  // namespace

SavedModel read_model(const std::string& folder) {
  const std::string config_path = folder + "/config.json";
  const std::string weights_path = folder + "/model.safetensors";
  const std::string text = read_file(config_path, most_config);
  const std::string bytes = read_file(weights_path);
  StoredHeader header = about(weights_path, [&] { return stored_header(bytes); });
  const ModelConfig config = about(config_path, [&] { return read_config(text, bias_in(header)); });
  // Every number takes a byte at least.
  about(weights_path, [&] {
    const double count = parameter_count(config.sizes);
    if (count > static_cast<double>(bytes.size()))
      throw WeightsError("config.json describes " + json_number(count) +
                         " numbers, and the file has " + std::to_string(bytes.size()) + " bytes");
  });
  Rng rng(0);
  SavedModel saved{LanguageModel(config.sizes, rng), config.own, std::move(header.metadata)};
  about(weights_path, [&] { load_weights(saved.model, bytes); });
  return saved;
}

void write_model(const std::string& folder, const LanguageModel& model,
                 const std::function<void(JsonWriter&)>& own,
                 const std::map<std::string, std::string>& metadata) {
  write_file(folder + "/model.safetensors", weights_bytes(model, metadata));
  write_file(folder + "/config.json", config_json(model.sizes, own));
}

}  // namespace fledge::inline FLEDGE_BUILD
