// The sizes of a language model as text: config.json in the words of GPT-2's files.
//
// Not here: its numbers (weights.h). Key idea: what GPT-2's configurations can say and this model
// cannot do is refused by name; what changes no output is ignored; any other key is a mistake.
//                                                                               Next: weights.h.
#pragma once

#include <functional>

#include "nn/gpt/language_model.h"
#include "nn/io/json.h"
#include "nn/io/json_reader.h"

namespace fledge {

/// What config.json says.
struct ModelConfig {
  LanguageModelSizes sizes;
  JsonValue own;           // the object under the key "fledge"; null when there is none
  bool says_bias = false;  // it has the key "bias"
  std::string text = {};
};

/// The most layers of a model that is read from a folder: a file of one kilobyte must not make a
/// program build a million blocks.
inline constexpr Dim most_layers = 1000;

/// The text of config.json. `own` writes the object under the key "fledge", which other programs
/// leave alone. A model without biases says so in a key of its own, "bias".
std::string config_json(const LanguageModelSizes& sizes,
                        const std::function<void(JsonWriter&)>& own = {});

/// config.json of this program, of GPT-2's own files or of programs like it. GPT-2's has no key for
/// biases: a text without "bias" is read as a model with them. resid_pdrop and embd_pdrop must be equal,
/// and are 0 when they are absent; attn_pdrop is ignored, as attention's weights are not dropped
/// here. Throws FormatError naming line, column and key for keys that are missing or unknown, for
/// values out of range (most_layers), and for sizes that this machine's memory cannot hold.
ModelConfig read_config(std::string text);

/// How many numbers a model of these sizes learns: count_parameters() without making it, exact
/// below 2⁵³.
double parameter_count(const LanguageModelSizes& sizes);

/// Throws ValueError unless this machine's memory holds `copies` times the numbers of such a model:
/// 1 to run it, 4 to train it with AdamW (numbers, gradients, two moments).
void require_memory(const LanguageModelSizes& sizes, double copies = 1);

}  // namespace fledge
