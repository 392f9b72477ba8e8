// The sizes of a language model as text: config.json with the keys of its family's files.
//
// A key that asks for something this model cannot do is an error that names the key. A key that
// changes no output is ignored. Any other key is ignored, too, and ModelConfig lists it.
#pragma once

#include "nn/gpt/language_model.h"
#include "nn/io/json.h"
#include "nn/text/tokenizer.h"

namespace fledge {

/// The contents of config.json.
struct ModelConfig {
  LanguageModelSizes sizes;
  JsonValue own;           // the object under the key "fledge"; null when there is none
  bool says_bias = false;  // whether it decides about biases
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
/// "key_heads": 2, "window": 16, "rotary_base": 10000. A model of another family
/// (LanguageModelSizes::family) has the keys and the type of that family; the type of a model of
/// none is "fledge", which other programs refuse.
/// `notes` are further members, such as "torch_dtype".
std::string config_json(const LanguageModelSizes& sizes, Json::Members own = {},
                        const Json::Members& notes = {});

/// What a recipe has and GPT-2 has not, as members of that object; and read from it. Throws
/// FormatError for a form that does not exist.
Json::Members forms_json(const Recipe& recipe);
void read_forms(const JsonValue& own, Recipe& recipe);
/// The keys of that object that belong to the recipe of a model.
inline constexpr std::string_view recipe_keys[] = {
    "without",   "positions", "norm",      "mlp",    "qk_norm",     "sink",
    "exclusive", "head",      "key_heads", "window", "rotary_base", "tied_qk"};

/// The members "bos_token_id" and "eos_token_id" of config.json, null if there is no such token, and
/// "pad_token_id" if there is one. Without the first two other programs take GPT-2's, 50256.
Json::Members mark_notes(const MarkTokens& marks);
/// The opposite direction. A value that is no token number is as none. The values under these keys
/// that are no token of this vocabulary are added to `others`: "eos_token_id[1] 50256".
MarkTokens read_marks(const JsonValue& config, Dim vocabulary, std::vector<std::string>& others);
/// The text of generation_config.json, which transformers reads.
std::string generation_config_json(const MarkTokens& marks);

/// Throws FormatError for a key that asks for other mathematics than this model computes. Returns the
/// keys that are not known: the class in transformers ignores them, as its own that change no
/// number of the model.
std::vector<std::string> check_config_keys(const JsonValue& config);

/// Reads a config.json of fledge, GPT-2, Llama or Starcoder2; without "model_type" it is "gpt2".
/// Without the key "bias", in Starcoder2 "use_bias", the model has biases; Llama has none. The
/// dropout is resid_pdrop, in Starcoder2 residual_dropout, by default 0. That of embeddings may
/// differ, and that of attention, which fledge does not have: a trained model computes without
/// them. n_ctx is ignored, as in transformers. What a file of Llama or Starcoder2 does not say is as
/// LlamaConfig and Starcoder2Config have it there: rms_norm_eps 1e-6, rope_theta 10000, and in Llama
/// an output head of its own. Throws FormatError naming line, column and key for keys that are
/// missing, for values out of range, for keys that ask for other mathematics, and for a model that
/// does not fit into the memory of this machine.
ModelConfig read_config(std::string text);

/// The number of weights of a model of these sizes: count_parameters() without building the model.
/// Exact below 2⁵³.
double parameter_count(const LanguageModelSizes& sizes);

}  // namespace fledge
