// The sizes of a language model as text: config.json with the keys of GPT-2's files.
//
// A key that asks for something this model cannot do is an error that names the key. A key that
// changes no output is ignored. Any other key is ignored, too, and ModelConfig lists it.
#pragma once

#include <optional>

#include "nn/gpt/language_model.h"
#include "nn/io/json.h"
#include "nn/text/tokenizer.h"

namespace fledge {

/// The contents of config.json.
struct ModelConfig {
  LanguageModelSizes sizes;
  JsonValue own;           // the object under the key "fledge"; null when there is none
  bool says_bias = false;  // whether there is a key "bias"
  MarkTokens marks = {};   // bos_token_id, eos_token_id and pad_token_id
  std::vector<std::string> unknown_keys = {};  // keys that are ignored and not known
  std::vector<std::string> other_marks = {};   // as read_marks() finds them
};

/// The most layers of a model that is read from a folder. Without this limit, a file of one
/// kilobyte could make a program build a million blocks.
inline constexpr Dim most_layers = 1000;

/// The text of config.json. `own` are members of the object under the key "fledge", which other
/// programs ignore. A model without biases has the key "bias", which GPT-2's files do not have. What
/// a model is without stands in this object under "without"; for the scale there is GPT-2's key.
/// What it has and GPT-2 has not stands beside it: "positions": "rotary" (Recipe::each_form),
/// "key_heads": 2, "window": 16, "rotary_base": 10000. If the model is no GPT-2 (Recipe::is_gpt2),
/// "model_type" is "fledge", which other programs refuse.
/// `notes` are further members, such as "torch_dtype".
std::string config_json(const LanguageModelSizes& sizes, Json::Members own = {},
                        const Json::Members& notes = {});

/// What a recipe has and GPT-2 has not, as members of that object; and read from it. Throws FormatError
/// for a form that does not exist.
Json::Members forms_json(const Recipe& recipe);
void read_forms(const JsonValue& own, Recipe& recipe);
/// The keys of that object that belong to the recipe of a model.
inline constexpr std::string_view recipe_keys[] = {
    "without", "positions", "norm",      "mlp",    "qk_norm",
    "sink",    "exclusive", "key_heads", "window", "rotary_base"};

/// The members "bos_token_id" and "eos_token_id" of config.json, null if there is no such token, and
/// "pad_token_id" if there is one. Without the first two other programs take GPT-2's, 50256.
Json::Members mark_notes(const MarkTokens& marks);
/// The opposite direction. A value that is no token number is as none. The values under these keys
/// that are no token of this vocabulary are added to `others`: "eos_token_id[1] 50256".
MarkTokens read_marks(const JsonValue& config, Dim vocabulary, std::vector<std::string>& others);
/// The text of generation_config.json, which transformers reads.
std::string generation_config_json(const MarkTokens& marks);

/// Throws FormatError for a key that asks for other mathematics than this model computes. Returns the
/// keys that are not known: GPT-2's class in transformers ignores them, as its own that change no
/// number of the model.
std::vector<std::string> check_config_keys(const JsonValue& config);

/// Reads a config.json of fledge or of GPT-2. Without the key "bias" the model has biases, without
/// "model_type" it is "gpt2". The dropout is resid_pdrop, by default 0. embd_pdrop may differ, and
/// attn_pdrop, which fledge does not have: a trained model computes without them. n_ctx is ignored,
/// as in transformers. Throws FormatError naming line, column and key for keys that are missing, for
/// values out of range, for keys that ask for other mathematics, and for a model that does not fit
/// into the memory of this machine.
ModelConfig read_config(std::string text);

/// The number of weights of a model of these sizes: count_parameters() without building the model.
/// Exact below 2⁵³.
double parameter_count(const LanguageModelSizes& sizes);

}  // namespace fledge
