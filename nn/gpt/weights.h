// The weights of a language model as a safetensors file, with GPT-2's names.
#pragma once

#include "nn/gpt/language_model.h"
#include "nn/io/safetensors.h"

namespace fledge {

/// The bytes of model.safetensors: all parameters under their names, "wte.weight",
/// "h.0.attn.c_attn.weight", …, the metadata and a checksum.
std::string weights_bytes(const LanguageModel& model,
                          const std::map<std::string, std::string>& metadata = {});

/// Builds the model of such a file. In GPT-2's files all names may begin with "transformer.", masks
/// are ignored (h.N.attn.bias, h.N.attn.masked_bias), and lm_head.weight may repeat the word table.
/// Throws FormatError naming the first tensor that is missing, unexpected, of another shape or not
/// finite. The sizes may be wrong: the model is built only if the file has a byte or more for each
/// weight.
LanguageModel read_weights(std::string_view file, const StoredHeader& header,
                           const LanguageModelSizes& sizes);

/// Whether the file has the biases of a model. GPT-2's config.json does not say it.
Bias bias_in(const StoredHeader& header);

/// The tensors of a file by name, and the names and shapes that are expected.
using StoredTensors = std::map<std::string_view, const StoredTensor*>;
using NamedShapes = std::vector<std::pair<std::string, Shape>>;
/// The expected tensors in their order. Throws FormatError naming the first that is missing, of
/// another shape, or not expected.
std::vector<const StoredTensor*> find_tensors(StoredTensors stored, const NamedShapes& expected);

}  // namespace fledge
