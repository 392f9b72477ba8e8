// A language model in a folder, in GPT-2's layout: config.json (what it is) and model.safetensors
// (its numbers).
//
// Not here: the state of a training run.                                        Next: folder.cpp.
#pragma once

#include <functional>
#include <map>
#include <string>

#include "nn/gpt/config.h"
#include "nn/gpt/weights.h"
#include "nn/io/folder.h"

namespace fledge {

struct SavedModel {
  LanguageModel model;
  ModelConfig config;
};

/// The model of a folder; one whose configuration does not say whether it has biases has those that
/// its weights have. `reader` reads the text of config.json; a caller that needs more of it than
/// read_config() gives brings its own, so that the text is read once. Sizes of files are checked
/// before they are read, and the names and shapes of all tensors before a model is built: the cost is
/// in proportion to the bytes that are there. While another process replaces the model, both files
/// are read again until they have one identity: "id" under "fledge" in config.json and in the
/// metadata of model.safetensors. Throws FileError, and FormatError naming the file.
SavedModel read_model(const Folder& folder,
                      const std::function<ModelConfig(std::string text)>& reader = read_config);
SavedModel read_model(const std::string& folder);

/// Puts both files into a folder that exists: both are replaced, or none is. Throws FileError.
void write_model(const std::string& folder, const LanguageModel& model,
                 const std::function<void(JsonWriter&)>& own = {},
                 const std::map<std::string, std::string>& metadata = {});

}  // namespace fledge
