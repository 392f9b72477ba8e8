// The weights of a language model as a safetensors file, with GPT-2's names.
//
// A file is compared with the whole model before any weight changes. One message lists all
// differences.
#pragma once

#include "nn/gpt/language_model.h"
#include "nn/io/safetensors.h"

namespace fledge {

/// The names and shapes of tensors.
using NamedShapes = std::vector<std::pair<std::string, Shape>>;

/// The bytes of model.safetensors: all parameters under their names, "wte.weight",
/// "h.0.attn.c_attn.weight", …, the metadata and a checksum.
std::string weights_bytes(const LanguageModel& model,
                          const std::map<std::string, std::string>& metadata = {});

/// The names and shapes of the parameters of a model with these sizes, in the order of
/// named_parameters(). The model itself is not built.
NamedShapes weight_shapes(const LanguageModelSizes& sizes);

/// Throws FormatError unless the header has the tensors of such a model. The message lists up to
/// twenty differences. It is called before the model is built, as the sizes may be wrong.
void require_weights(const StoredHeader& header, const LanguageModelSizes& sizes);

/// The largest possible model.safetensors of such a model in bytes: numbers of 8 bytes, the word
/// table twice, GPT-2's masks, and the longest header. A larger file is not read.
std::uint64_t most_weights_bytes(const LanguageModelSizes& sizes);

/// Sets the parameters of the model to the numbers in the file. In GPT-2's files all names may begin
/// with "transformer.", masks are ignored (h.N.attn.bias, h.N.attn.masked_bias), and
/// lm_head.weight may repeat the word table. Throws FormatError for tensors that are missing,
/// unexpected, of another shape, of a type that is not read here, or not finite; GraphError
/// while a graph needs the old numbers. After an exception the model is unchanged.
void load_weights(const LanguageModel& model, std::string_view file, const StoredHeader& header);

/// Whether the file has the biases of a model. GPT-2's config.json does not say it.
Bias bias_in(const StoredHeader& header);

/// A list of differences between the tensors of a file and the tensors of a model.
class TensorDifferences {
 public:
  void add(const std::string& difference);
  /// If there are differences, throws FormatError: `rule`, then the first twenty of them.
  void require_none(const std::string& requirement) const;

 private:
  int count_ = 0;
  std::string list_, more_;
};

/// The tensors with the expected names, in their order; null for a missing one. `stored` are the
/// tensors of a file by name. Adds a difference for each tensor that is missing, not expected, or of
/// another shape.
std::vector<const StoredTensor*> find_tensors(
    std::map<std::string_view, const StoredTensor*> stored, const NamedShapes& expected,
    TensorDifferences& differences);

}  // namespace fledge
