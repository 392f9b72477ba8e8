// The weights of a language model as tensors of a safetensors file, with the names of its family;
// and a model in a folder: config.json describes the model, model.safetensors has the weights.
#pragma once

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "nn/gpt/config.h"
#include "nn/io/folder.h"
#include "nn/io/safetensors.h"

namespace fledge {

inline constexpr const char* weights_name = "model.safetensors";

/// Whose names and shapes the tensors of a file have: in a folder those of the model's family
/// (LanguageModelSizes::family), without one GPT-2's; in a run always GPT-2's.
enum class StoredFor { folder, run };

/// A tensor of a file: columns first … first + count − 1 of a parameter. In files of
/// Llama and Starcoder2 weights are transposed, W (out, in), and c_attn is three tensors: of queries,
/// keys and values.
struct StoredPart {
  std::string name;  // "h.0.attn.c_attn.weight", or "model.layers.0.self_attn.q_proj.weight"
  Tensor parameter;
  Dim first, count;
  bool is_transposed;

  bool is_whole() const { return !is_transposed && count == parameter.dim(-1); }
  Shape shape() const;
  /// This part of an array of the parameter's shape.
  Array of(const Array& x) const;
  /// The opposite direction: reads this part of the parameter. Throws as read_numbers().
  void read(const ByteSource& file, const StoredTensor& tensor) const;
};
/// All tensors of a model's file, each number of the parameters in one of them.
std::vector<StoredPart> stored_parts(const LanguageModel& model,
                                     StoredFor place = StoredFor::folder);

/// The same, to be stored. Other programs expect the biases of GPT-2. For a GPT-2 without
/// biases they are zeros: then these programs compute the same model.
std::vector<NamedArray> named_weights(const LanguageModel& model);

struct WeightFile {
  std::string path;
  ByteSource bytes;
  StoredHeader header;
};

/// Opens model.safetensors and reads its header. Throws FileError, and FormatError naming the file,
/// or naming what the folder has in the place of weights: those of another format, an adapter,
/// weights in several files.
WeightFile open_weight_file(const Folder& folder);

/// Builds the model of such a file. All names may begin with "transformer.", as in GPT-2's files, and
/// with the prefixes of torch.compile and DistributedDataParallel, "_orig_mod." and "module."; masks
/// and angles are ignored (h.N.attn.bias, h.N.attn.masked_bias, ….rotary_emb.inv_freq), and
/// lm_head.weight may repeat the word table, or stand in its place, if the head is tied to it.
/// Biases of a model without biases must be zeros. Throws FormatError naming the first tensor that is
/// missing, unexpected, of another shape or not finite. The sizes may be wrong: the model is built
/// only if the file has a byte or more for each weight.
LanguageModel read_weights(const WeightFile& file, const LanguageModelSizes& sizes,
                           StoredFor place = StoredFor::folder);

/// Whether the tensors of a file are those of a model with biases.
Bias stored_bias(const WeightFile& file);

struct SavedModel {
  LanguageModel model;
  ModelConfig config;
  std::string step;  // "step" in the metadata of model.safetensors; "" without it
};

/// Reads the model in a folder. If config.json does not say whether the model has biases, the
/// tensors in model.safetensors decide. `reader` reads the text of config.json; a caller that needs
/// more than read_config() returns passes its own function, so that the text is read once. The
/// model is built only if the file with its weights is large enough, so time and memory are
/// proportional to its size. GPT-2's weights are read into the arrays of the model, others one
/// tensor after the other: there is no second copy of all. A folder of a cache, whose model is in a
/// folder under "snapshots", is refused with the path of that folder. Throws FileError, and
/// FormatError naming the file.
SavedModel read_model(const Folder& folder,
                      const std::function<ModelConfig(std::string text)>& reader = read_config);

}  // namespace fledge
