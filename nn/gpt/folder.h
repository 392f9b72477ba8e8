// A language model in a folder, in GPT-2's layout: config.json describes the model,
// model.safetensors has the weights.
#pragma once

#include <functional>
#include <string>

#include "nn/gpt/config.h"
#include "nn/gpt/weights.h"
#include "nn/io/folder.h"

namespace fledge {

struct SavedModel {
  LanguageModel model;
  ModelConfig config;
  std::string step;  // "step" in the metadata of model.safetensors; "" without it
};

/// Reads the model in a folder. If config.json does not say whether the model has biases, the
/// tensors in model.safetensors decide. `reader` reads the text of config.json; a caller that needs
/// more than read_config() returns passes its own function, so that the text is read once. The
/// model is built only if the file with its weights is large enough, so time and memory are
/// proportional to its size. The weights are read into the arrays of the model in parts
/// of at most 256 KB: there is no second copy. A folder of a cache, whose model is in a folder under
/// "snapshots", is refused with the path of that folder. Throws FileError, and FormatError naming the
/// file.
SavedModel read_model(const Folder& folder,
                      const std::function<ModelConfig(std::string text)>& reader = read_config);

}  // namespace fledge
