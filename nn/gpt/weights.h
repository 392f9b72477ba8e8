// The weights of a language model as tensors of a safetensors file, with GPT-2's names.
#pragma once

#include "nn/gpt/language_model.h"
#include "nn/gpt/weight_files.h"

namespace fledge {

/// The parameters under their names, "wte.weight", "h.0.attn.c_attn.weight", …, to be stored as a
/// type. Other programs expect the biases of GPT-2. For a model without biases they are zeros: then
/// these programs compute the same model.
std::vector<NamedArray> named_weights(const LanguageModel& model,
                                      const Dtype* type = find_dtype("F32"));
/// The bytes of model.safetensors: the weights as F32, the metadata and a checksum.
std::string weights_bytes(const LanguageModel& model,
                          const std::map<std::string, std::string>& metadata = {});

/// Builds the model of such a file. In GPT-2's files all names may begin with "transformer." and with
/// the prefixes of torch.compile and DistributedDataParallel, "_orig_mod." and "module."; masks are
/// ignored (h.N.attn.bias, h.N.attn.masked_bias), and lm_head.weight may repeat the word table
/// wte.weight, or stand in its place.
/// Biases of a model without biases must be zeros. Throws FormatError naming the first tensor that is
/// missing, unexpected, of another shape or not finite. The sizes may be wrong: the model is built
/// only if the file has a byte or more for each weight.
LanguageModel read_weights(const WeightFile& file, const LanguageModelSizes& sizes);

/// Whether the file has the biases of a model. GPT-2's config.json does not say it.
Bias bias_in(const WeightFile& file);

}  // namespace fledge
