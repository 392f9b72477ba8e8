// A language model in a folder, in GPT-2's layout: config.json (what it is) and model.safetensors
// (its numbers).
//
// Not here: the state of a training run. Key idea: a folder that has a config.json is whole,
// because it is written last.   Next: model_folder.cpp.
#pragma once

#include <map>
#include <string>

#include "nn/gpt/config.h"
#include "nn/gpt/weights.h"
#include "nn/io/folder.h"

namespace fledge {

/// A file that is there, and is not what it must be.
struct InvalidFile : FileError {
  using FileError::FileError;
};

/// A model.safetensors whose tensors are not those of the model that config.json describes.
struct OtherModel : InvalidFile {
  using InvalidFile::InvalidFile;
};

/// config.json and model.safetensors that were written for two models.
struct MixedFiles : OtherModel {
  using OtherModel::OtherModel;
};

struct SavedModel {
  LanguageModel model;
  std::string config;                           // the text of config.json
  JsonValue own;                                // the object under "fledge" in config.json, or null
  std::map<std::string, std::string> metadata;  // of model.safetensors
};

/// The model of a folder; one whose configuration does not say whether it has biases has those that
/// its weights have. Sizes of files are checked before they are read, and the names and shapes of
/// all tensors before a model is built: the cost is in proportion to the bytes that are there.
/// Throws FileError naming the file; InvalidFile or OtherModel when what is in it is wrong. While
/// another process replaces the model, both files are read again until they have one identity: "id"
/// under "fledge" in config.json and in the metadata of model.safetensors.
SavedModel read_model(const Folder& folder);
SavedModel read_model(const std::string& folder);

/// Writes both files into a folder that exists. Throws FileError.
void write_model(const std::string& folder, const LanguageModel& model,
                 const std::function<void(JsonWriter&)>& own = {},
                 const std::map<std::string, std::string>& metadata = {});

}  // namespace fledge
