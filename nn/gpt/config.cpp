#include "nn/gpt/config.h"

#include <algorithm>
#include <map>
#include <set>

#include "nn/io/checksum.h"

namespace fledge {

namespace {

// Keys of GPT-2's configurations that must have this value, or one of these, if they are there: this model
// computes nothing else.
constexpr std::pair<std::string_view, std::string_view> only_values[] = {
    {"model_type", "\"gpt2\""},
    {"model_type", "\"fledge\""},
    {"scale_attn_weights", "true"},
    {"scale_attn_weights", "false"},
    {"scale_attn_by_inverse_layer_idx", "false"},
    {"tie_word_embeddings", "true"},
    {"add_cross_attention", "false"},
    {"is_encoder_decoder", "false"},
    {"pruned_heads", "{}"}};

/// The values of a key, as a message lists them: "true or false".
std::string allowed(std::string_view key) {
  std::string values;
  for (const auto& [name, value] : only_values)
    if (name == key) values += (values.empty() ? "" : " or ") + std::string(value);
  return values;
}

// Keys of other models that change the mathematics and leave no trace in the names and shapes of the
// tensors. They must be null or false.
// clang-format off
constexpr std::string_view keys_of_other_models[] = {
    "alibi", "attn_logit_softcapping", "final_logit_softcapping", "logit_scale", "n_experts",
    "num_experts", "num_local_experts", "parallel_attn", "qk_norm", "quantization_config",
    "rope_scaling", "rope_theta", "rotary_dim", "rotary_pct", "sliding_window", "use_alibi",
    "use_parallel_residual", "use_rotary", "window_size"};

// Keys that are read here, and keys of GPT-2's configurations that change no number of the model:
// notes, what other classes of the library use, how it generates, and how exactly it rounds
// (GPT2Config and PretrainedConfig of transformers 4).
constexpr std::string_view known_keys[] = {
    "vocab_size", "n_positions", "max_position_embeddings", "n_embd", "hidden_size", "n_layer",
    "num_hidden_layers", "n_head", "num_attention_heads", "n_inner", "bias", "resid_pdrop",
    "embd_pdrop", "attn_pdrop", "layer_norm_epsilon", "activation_function", "fledge",
    "_attn_implementation_autoset", "_commit_hash", "_name_or_path", "_num_labels", "architectures",
    "attn_implementation", "bad_words_ids", "begin_suppress_tokens", "bos_token_id",
    "chunk_size_feed_forward", "cross_attention_hidden_size", "decoder_start_token_id",
    "diversity_penalty", "do_sample", "dtype", "early_stopping", "encoder_no_repeat_ngram_size",
    "eos_token_id", "exponential_decay_length_penalty", "finetuning_task", "forced_bos_token_id",
    "forced_eos_token_id", "gradient_checkpointing", "id2label", "initializer_range", "is_decoder",
    "label2id", "length_penalty", "max_length", "min_length", "n_ctx", "n_special",
    "no_repeat_ngram_size", "num_beam_groups", "num_beams", "num_labels", "num_return_sequences",
    "output_attentions", "output_hidden_states", "output_past", "output_scores", "pad_token_id",
    "predict_special_tokens", "prefix", "problem_type", "remove_invalid_values",
    "reorder_and_upcast_attn", "repetition_penalty", "return_dict", "return_dict_in_generate",
    "sep_token_id", "summary_activation", "summary_first_dropout", "summary_proj_to_labels",
    "summary_type", "summary_use_proj", "suppress_tokens", "task_specific_params", "temperature",
    "tf_legacy_loss", "tie_encoder_decoder", "tokenizer_class", "top_k", "top_p", "torch_dtype",
    "torchscript", "transformers_version", "typical_p", "use_bfloat16", "use_cache"};
// clang-format on

FeedForward read_form(const JsonValue& json) {
  const std::string name = json.string();
  if (name == "gelu" || name == "gelu_python") return FeedForward::gelu;
  if (name != "gelu_new" && name != "gelu_pytorch_tanh" && name != "gelu_fast")
    json.fail("must be gelu_new or gelu: got " + json.shown());
  return FeedForward::gelu_tanh;
}

std::string model_type_of(const Recipe& recipe) { return recipe.is_gpt2() ? "gpt2" : "fledge"; }

// The words under the key "without": all but the scale, for which GPT-2 has a key.
std::vector<std::string> listed_parts(Recipe recipe) {
  recipe.scale = Scale::root;
  return words_of_none(recipe);
}

bool has_gelu(const Recipe& recipe) {
  return recipe.mlp != FeedForward::swiglu && recipe.mlp != FeedForward::relu_squared;
}

Recipe read_recipe(const JsonValue& config, const JsonValue& own, Dim heads) {
  Recipe recipe;
  if (config.has("activation_function")) recipe.mlp = read_form(config["activation_function"]);
  const bool has_without = !own.is_null() && own.has("without");
  std::vector<std::string> found;
  if (has_without)
    own["without"].each_item([&](const JsonValue& word) { found.push_back(word.string()); });
  recipe.each([&]<class Part>(const std::string& word, Part& part) {
    if (std::find(found.begin(), found.end(), word) != found.end()) part = Part::none;
  });
  if (!own.is_null()) read_forms(own, recipe);
  if (has_without && (found.empty() || found != listed_parts(recipe)))
    own["without"].fail(
        "must have one or more of mask, positions, mlp, value, attention, residual and norm, in "
        "this order and each once: got " +
        own["without"].shown());
  if (config.has("scale_attn_weights") && !config["scale_attn_weights"].boolean())
    recipe.scale = Scale::none;
  if (!own.is_null() && own.has("key_heads")) {
    recipe.key_heads = own["key_heads"].integer(1, heads);
    if (heads % recipe.key_heads != 0)
      own["key_heads"].fail("must divide n_head, " + std::to_string(heads) + ": got " +
                            std::to_string(recipe.key_heads));
    if (recipe.key_heads != heads && recipe.values == ValueMatrix::none)
      own["key_heads"].fail("must be n_head, " + std::to_string(heads) +
                            ", in a model without value: got " + std::to_string(recipe.key_heads));
  }
  if (!config.has("model_type")) return recipe;
  const std::string type = config["model_type"].string();
  if (type != model_type_of(recipe))
    config["model_type"].fail(
        "must be \"" + model_type_of(recipe) + "\" for a model that GPT-2's formula " +
        (recipe.is_gpt2() ? "computes" : "does not compute") + ": got \"" + type + "\"");
  return recipe;
}

Dim size_of(const JsonValue& value, Dim most = 2147483647) { return value.integer(1, most); }

// A size of the model. GPT2Config takes the second name for the same (its attribute_map).
Dim size_of(const JsonValue& config, const char* name, const char* other, Dim most = 2147483647) {
  const bool has_other = !config.find(other).is_null();
  const Dim size = size_of(config[has_other && !config.has(name) ? other : name], most);
  if (has_other && size_of(config[other], most) != size)
    config[other].fail("must be " + std::string(name) + ", " + std::to_string(size) + ": got " +
                       config[other].shown());
  return size;
}

double probability(const JsonValue& config, std::string_view key) {
  if (!config.has(key)) return 0;
  const double p = config[key].number();
  if (!(p >= 0 && p < 1)) config[key].fail("must be at least 0 and below 1: got " + json_number(p));
  return p;
}

std::string in_gigabytes(double bytes) {
  std::string text;
  message::append(text, bytes / 1e9, 3);
  return text + " GB";
}

}  // namespace

Json::Members forms_json(const Recipe& recipe) {
  Json::Members own;
  Recipe::each_form(recipe, [&](const char* key, auto member, auto form, const char* word) {
    if (member == form) own.push_back({key, word});
  });
  if (recipe.key_heads > 0) own.push_back({"key_heads", recipe.key_heads});
  if (recipe.window > 0) own.push_back({"window", recipe.window});
  if (recipe.position == Position::rotary) own.push_back({"rotary_base", recipe.rotary_base});
  return own;
}

void read_forms(const JsonValue& own, Recipe& recipe) {
  std::map<std::string, std::string> allowed;  // by key
  Recipe::each_form(recipe, [&](const char* key, auto& member, auto form, const char* word) {
    if (!own.has(key)) return;
    allowed[key] += (allowed[key].empty() ? "" : " or ") + std::string(word);
    if (own[key].string() == word) member = form;
  });
  if (own.has("key_heads")) recipe.key_heads = own["key_heads"].integer(1, 2147483647);
  if (own.has("window")) recipe.window = own["window"].integer(1, 2147483647);
  const auto found = forms_of(recipe);
  for (const auto& [key, words] : allowed)
    if (std::find(found.begin(), found.end(), std::pair(key, own[key].string())) == found.end())
      own[key].fail("must be " + words + ": got " + own[key].shown());
  if (!own.has("rotary_base")) return;
  recipe.rotary_base = own["rotary_base"].number();
  if (!(recipe.rotary_base >= 1))
    own["rotary_base"].fail("must be 1 or more: got " + own["rotary_base"].shown());
}

std::vector<std::string> check_config_keys(const JsonValue& config) {
  std::set<std::string_view> known(std::begin(known_keys), std::end(known_keys));
  known.insert(std::begin(keys_of_other_models), std::end(keys_of_other_models));
  for (const auto& only : only_values) known.insert(only.first);
  std::vector<std::string> unknown;
  config.each_member([&](const std::string& key, const JsonValue&) {
    if (!known.contains(key)) unknown.push_back(key);
  });
  for (const std::string_view key : keys_of_other_models)
    if (const JsonValue found = config.find(key); !found.is_null() && found.shown() != "false")
      found.fail("must be null or false, because GPT-2's model has no such part: got " +
                 found.shown());
  for (const auto& only : only_values) {
    const JsonValue found = config.find(only.first);
    const bool fits = std::any_of(
        std::begin(only_values), std::end(only_values),
        [&](const auto& one) { return one.first == only.first && one.second == found.shown(); });
    if (config.has(only.first) && !fits)
      found.fail("must be " + allowed(only.first) + ": got " + found.shown());
  }
  return unknown;
}

std::string config_json(const LanguageModelSizes& sizes, Json::Members own,
                        const Json::Members& notes) {
  const std::vector<std::string> parts = listed_parts(sizes.recipe);
  if (!parts.empty()) own.push_back({"without", parts});
  for (auto& form : forms_json(sizes.recipe)) own.push_back(std::move(form));
  const Json hidden = sizes.hidden > 0 ? Json(sizes.hidden) : Json();
  Json::Members members{
      {"model_type", model_type_of(sizes.recipe)},
      {"architectures", std::vector<std::string>{"GPT2LMHeadModel"}},
      {"vocab_size", sizes.vocabulary},
      {"n_positions", sizes.context},
      {"n_ctx", sizes.context},
      {"n_embd", sizes.width},
      {"n_layer", sizes.layers},
      {"n_head", sizes.heads},
      {"n_inner", hidden},
      {"activation_function", sizes.recipe.mlp == FeedForward::gelu ? "gelu" : "gelu_new"},
      {"layer_norm_epsilon", sizes.epsilon},
      {"resid_pdrop", sizes.dropout},
      {"embd_pdrop", sizes.dropout},
      {"attn_pdrop", 0.0},
      {"tie_word_embeddings", true}};
  std::erase_if(members, [&](const auto& member) {
    return (member.first == "architectures" && !sizes.recipe.is_gpt2()) ||
           (member.first == "activation_function" && !has_gelu(sizes.recipe));
  });
  if (sizes.recipe.scale == Scale::none) members.push_back({"scale_attn_weights", false});
  if (sizes.bias == Bias::without) members.push_back({"bias", false});
  members.insert(members.end(), notes.begin(), notes.end());
  if (!own.empty()) members.push_back({"fledge", Json::object(own)});
  return Json::object(members).indented() + "\n";
}

Json::Members mark_notes(const MarkTokens& marks) {
  Json ends;  // null
  if (marks.ends.size() == 1)
    ends = marks.ends[0];
  else if (!marks.ends.empty())
    ends = marks.ends;
  Json::Members members{{"bos_token_id", marks.begin}, {"eos_token_id", ends}};
  if (marks.pad) members.push_back({"pad_token_id", *marks.pad});
  return members;
}

MarkTokens read_marks(const JsonValue& config, Dim vocabulary, std::vector<std::string>& others) {
  const auto token = [&](const JsonValue& json) -> std::optional<Dim> {
    const std::optional<std::uint64_t> number = unsigned_number(json.shown(), 10);
    if (!json.is_null() && (!number || *number >= static_cast<std::uint64_t>(vocabulary)))
      others.push_back(json.path() + " " + json.shown());
    if (!number || *number >= 2147483648) return {};
    return static_cast<Dim>(*number);
  };
  MarkTokens marks{token(config.find("bos_token_id")), {}, {}};
  const auto add_end = [&](const JsonValue& json) {
    if (const std::optional<Dim> id = token(json)) marks.ends.push_back(*id);
  };
  const JsonValue ends = config.find("eos_token_id");
  if (ends.is_array())
    ends.each_item(add_end);
  else
    add_end(ends);
  marks.pad = token(config.find("pad_token_id"));
  return marks;
}

std::string generation_config_json(const MarkTokens& marks) {
  return Json::object(mark_notes(marks)).indented() + "\n";
}

ModelConfig read_config(std::string text) {
  const JsonValue config = read_json(std::move(text));
  std::vector<std::string> unknown_keys = check_config_keys(config);
  LanguageModelSizes sizes{.vocabulary = size_of(config["vocab_size"]),
                           .context = size_of(config, "n_positions", "max_position_embeddings"),
                           .layers = size_of(config, "n_layer", "num_hidden_layers", most_layers),
                           .heads = size_of(config, "n_head", "num_attention_heads"),
                           .width = size_of(config, "n_embd", "hidden_size"),
                           .dropout = probability(config, "resid_pdrop")};
  if (config.has("layer_norm_epsilon")) {
    const JsonValue epsilon = config["layer_norm_epsilon"];
    sizes.epsilon = epsilon.number();
    if (!(sizes.epsilon > 0)) epsilon.fail("must be above 0: got " + epsilon.shown());
  }
  if (sizes.width % sizes.heads != 0)
    config["n_head"].fail("must divide n_embd, " + std::to_string(sizes.width) + ": got " +
                          std::to_string(sizes.heads));
  if (!config.find("n_inner").is_null()) sizes.hidden = size_of(config["n_inner"]);
  probability(config, "embd_pdrop");
  probability(config, "attn_pdrop");
  if (config.has("bias")) sizes.bias = config["bias"].boolean() ? Bias::with : Bias::without;
  const JsonValue own = config.find("fledge");
  if (config.has("fledge") && !own.is_object()) own.fail("must be an object: got " + own.shown());
  sizes.recipe = read_recipe(config, own, sizes.heads);
  if (sizes.recipe.position == Position::rotary && sizes.width / sizes.heads % 2 != 0)
    config["n_head"].fail(
        "must divide n_embd into heads of an even size for rotary positions: got " +
        std::to_string(sizes.heads));
  const double needed = parameter_count(sizes) * sizeof(Real), memory = machine_memory();
  if (needed > memory)
    config.fail("describes too large a model: its numbers need " + in_gigabytes(needed) +
                " of memory, this machine has " + in_gigabytes(memory));
  ModelConfig result{sizes, own, config.has("bias"), {}, std::move(unknown_keys), {}};
  result.marks = read_marks(config, sizes.vocabulary, result.other_marks);
  return result;
}

double parameter_count(const LanguageModelSizes& sizes) {
  const auto number = [](Dim size) { return static_cast<double>(size); };
  const double C = number(sizes.width), V = number(sizes.vocabulary), T = number(sizes.context);
  const bool is_rotary = sizes.recipe.position == Position::rotary;
  const bool has_gate = sizes.recipe.mlp == FeedForward::swiglu;
  const double up =
      number(sizes.hidden_width()) * (has_gate ? 2 : 1);  // columns of c_fc and c_gate
  const double norm = sizes.recipe.norm == Norm::rms ? C : 2 * C;
  const HeadCount heads = sizes.head_count();
  const double qkv = C + 2 * C * number(heads.keys) / number(heads.queries);
  const double weights = C * qkv + C * C + C * up + number(sizes.hidden_width()) * C;
  const double biases = sizes.bias == Bias::with ? qkv + C + up + C : 0;
  const double sinks = sizes.recipe.sink == Sink::learned ? number(sizes.heads) : 0;
  return V * C + (is_rotary ? 0 : T * C) +
         number(sizes.layers) * (2 * norm + weights + biases + sinks) + norm;
}

}  // namespace fledge
