// The numbers of a language model as a safetensors file, under GPT-2's names.
//
// Not here: sizes (config.h), the two together (folder.h). Key idea: all or nothing; a file is
// compared with the whole model before one number moves, and one message names all differences.
//                                                                               Next: folder.h.
#pragma once

#include "nn/gpt/language_model.h"
#include "nn/io/safetensors.h"

namespace fledge {

/// Every parameter by its name: "wte.weight", "h.0.attn.c_attn.weight", …
std::string weights_bytes(const LanguageModel& model,
                          const std::map<std::string, std::string>& metadata = {});

/// The names and shapes of a model's parameters, in the order of named_parameters(), without the
/// model.
std::vector<std::pair<std::string, Shape>> weight_shapes(const LanguageModelSizes& sizes);

/// Throws FormatError unless the header has the tensors of such a model: before anything is built
/// from sizes that a file only declares. The message lists up to twenty differences.
void require_weights(const StoredHeader& header, const LanguageModelSizes& sizes);

/// The largest model.safetensors of such a model in bytes: numbers of 8 bytes, the word table twice,
/// GPT-2's masks, and the longest header. A larger file is not read.
std::uint64_t most_weights_bytes(const LanguageModelSizes& sizes);

/// Moves the model's parameters to the file's numbers. GPT-2's files may say "transformer." in
/// front of every name, keep their masks (h.N.attn.bias, h.N.attn.masked_bias) and repeat the word
/// table as lm_head.weight. Throws FormatError for bytes that are no safetensors file and for tensors
/// that are missing, too many, of another shape, of types not read here or not finite; GraphError
/// while a graph needs the old numbers. The model is then as it was.
void load_weights(const LanguageModel& model, std::string_view file);
/// The same with the file's own header.
void load_weights(const LanguageModel& model, std::string_view file, const StoredHeader& header);

/// Whether a file is of a model with biases; GPT-2's configurations do not say.
Bias bias_in(const StoredHeader& header);

}  // namespace fledge
