#include "nn/gpt/weight_files.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <set>

#include "engine/base/errors.h"
#include "nn/io/json.h"

namespace fledge {

namespace {

std::string cannot_read(const std::string& path) { return "cannot read " + in_quotes(path); }

WeightFile open_weight_file(const Folder& folder, const std::string& name) {
  std::optional<ByteSource> bytes = folder.open(name);
  if (!bytes) throw FileError("read", folder.file(name), ENOENT);
  StoredHeader header =
      located_at(cannot_read(folder.file(name)), [&] { return stored_header(*bytes); });
  return {folder.file(name), std::move(*bytes), std::move(header)};
}

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

// The names of the files of a folder that end so, in their order.
std::vector<std::string> names_ending(const Folder& folder, std::string_view end) {
  std::vector<std::string> names;
  std::error_code error;
  for (std::filesystem::directory_iterator entry(folder.path(), error), none;
       !error && entry != none; entry.increment(error))
    if (const std::string name = entry->path().filename().string(); name.ends_with(end))
      names.push_back(name);
  std::sort(names.begin(), names.end());
  return names;
}

// Throws unless the name is that of a safetensors file in the folder itself.
void require_plain_name(const JsonValue& json) {
  const std::string name = json.string();
  const bool is_plain = name.find('/') == std::string::npos &&
                        name.find('\0') == std::string::npos && !name.starts_with('.') &&
                        name.ends_with(".safetensors");
  if (!is_plain)
    json.fail("must be the name of a .safetensors file in the same folder: got " + json.shown());
}

// The name of the shard of each tensor.
std::map<std::string, std::string> read_shard_index(std::string text) {
  const JsonValue index = read_json(std::move(text));
  index.allow_only({"metadata", "weight_map"});
  std::map<std::string, std::string> shard_of;
  index["weight_map"].each_member([&](const std::string& tensor, const JsonValue& shard) {
    require_plain_name(shard);
    shard_of[tensor] = shard.string();
  });
  if (shard_of.empty()) index["weight_map"].fail("must name the shard of each tensor: got {}");
  return shard_of;
}

// Throws unless the shards have the tensors of the index and no others.
void require_indexed_tensors(const std::map<std::string, WeightFile>& shards,
                             const std::map<std::string, std::string>& shard_of) {
  std::size_t found = 0;
  for (const auto& [name, shard] : shards)
    for (const StoredTensor& tensor : shard.header.tensors) {
      const auto entry = shard_of.find(tensor.name);
      if (entry == shard_of.end() || entry->second != name)
        throw FormatError(cannot_read(shard.path) + ": it has the tensor " +
                          in_quotes(tensor.name) + ", for which " + shard_index_name + " names " +
                          (entry == shard_of.end() ? "no file" : in_quotes(entry->second)));
      ++found;
    }
  if (found == shard_of.size()) return;
  for (const auto& [tensor, name] : shard_of) {
    bool is_there = false;
    for (const StoredTensor& stored : shards.at(name).header.tensors)
      is_there = is_there || stored.name == tensor;
    if (!is_there)
      throw FormatError(cannot_read(shards.at(name).path) + ": it must have the tensor " +
                        in_quotes(tensor) + ", for which " + shard_index_name + " names it");
  }
}

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
  for (const std::string& name : names_ending(folder, ".gguf"))
    refuse(name, "a file of llama.cpp", other_file_advice);
  for (const std::string& name : names_ending(folder, ".safetensors"))
    if (name == "state.safetensors")
      continue;  // the checkpoint of a run is beside its weights
    else if (name.find("-of-") == std::string::npos)
      refuse(name, "not named model.safetensors, as the weights of a folder are",
             "if these are the weights, name the file so");
    else
      refuse(name,
             "a part of the weights, and model.safetensors.index.json is missing, which names the "
             "parts",
             "bring model.safetensors.index.json");
  throw FileError("read", folder.file(weights_name), ENOENT);
}

std::vector<WeightFile> open_weight_files(const Folder& folder) {
  std::vector<WeightFile> files;
  if (folder.has(weights_name) || !folder.has(shard_index_name)) {
    if (!folder.has(weights_name)) refuse_missing_weights(folder);
    files.push_back(open_weight_file(folder, weights_name));
    return files;
  }
  const std::string index_path = folder.file(shard_index_name);
  const auto shard_of = located_at(cannot_read(index_path), [&] {
    return read_shard_index(folder.read(shard_index_name, most_json_bytes).value_or(""));
  });
  std::map<std::string, WeightFile> shards;
  for (const auto& [tensor, name] : shard_of)
    if (!shards.contains(name)) {
      if (shards.size() == most_shards)
        throw FormatError(cannot_read(index_path) + ": it must name at most " +
                          std::to_string(most_shards) + " files");
      shards.emplace(name, open_weight_file(folder, name));
    }
  require_indexed_tensors(shards, shard_of);
  for (auto& [name, shard] : shards) files.push_back(std::move(shard));
  const std::string step = files[0].header.text("step");
  for (const WeightFile& file : files)
    if (file.header.text("step") != step)
      throw FormatError(cannot_read(file.path) + ": it must have the weights of step " +
                        in_quotes(step) + ", as the other files: it has those of step " +
                        in_quotes(file.header.text("step")));
  return files;
}

std::string shard_name(std::size_t shard, std::size_t shards) {
  if (shards == 1) return weights_name;
  char name[64];
  std::snprintf(name, sizeof name, "model-%05zu-of-%05zu.safetensors", shard + 1, shards);
  return name;
}

std::string shard_index(std::uint64_t bytes, const std::map<std::string, std::string>& shard_of) {
  const Json::Members map(shard_of.begin(), shard_of.end());
  return Json::object({{"metadata", Json::object({{"total_size", bytes}})},
                       {"weight_map", Json::object(map)}})
             .indented() +
         "\n";
}

std::vector<PlacedTensor> find_tensors(PlacedTensors placed, const NamedShapes& expected) {
  std::vector<PlacedTensor> result;
  std::set<std::string_view> names;
  for (const auto& [name, shape] : expected) names.insert(name);
  // Up to three tensors that are not expected: what the missing one may be called in the file.
  const auto others = [&] {
    std::string list;
    int count = 0;
    for (const auto& [name, tensor] : placed)
      if (!names.contains(name) && count++ < 3) list += (count > 1 ? ", " : "") + in_quotes(name);
    return list.empty() ? ""
                        : "; it has " + list + (count > 3 ? ", …" : "") +
                              ", which GPT-2's model does not have";
  };
  for (const auto& [name, shape] : expected) {
    const auto found = placed.find(name);
    const bool is_there = found != placed.end();
    if (!is_there || found->second.tensor->shape != shape)
      throw FormatError("its tensors: " + in_quotes(name) + " must have shape " + to_string(shape) +
                        ": the file has " +
                        (is_there ? to_string(found->second.tensor->shape) : "none" + others()));
    result.push_back(found->second);
    placed.erase(found);
  }
  if (!placed.empty())
    throw FormatError("its tensors: " + in_quotes(placed.begin()->first) + " is not in the model");
  return result;
}

}  // namespace fledge
