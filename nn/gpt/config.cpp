#include "nn/gpt/config.h"

#include <set>

#include "nn/io/checksum.h"

namespace fledge {

namespace {

// Keys that must have this value, or one of these, if they are there: this model computes nothing
// else. Of all families, or of one.
struct OnlyValue {
  std::string_view key, value;
  Family only = Family::none;
};
constexpr OnlyValue only_values[] = {{"model_type", "\"gpt2\""},
                                     {"model_type", "\"fledge\""},
                                     {"model_type", "\"llama\""},
                                     {"model_type", "\"starcoder2\""},
                                     {"scale_attn_weights", "true"},
                                     {"scale_attn_weights", "false"},
                                     {"scale_attn_by_inverse_layer_idx", "false"},
                                     {"tie_word_embeddings", "true", Family::gpt2},
                                     {"add_cross_attention", "false"},
                                     {"is_encoder_decoder", "false"},
                                     {"pruned_heads", "{}"},
                                     {"hidden_act", "\"silu\"", Family::llama},
                                     {"attention_bias", "false", Family::llama},
                                     {"mlp_bias", "false", Family::llama}};

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
// Keys that are read in configurations of other families, besides those above, and one that only
// says how products are summed.
constexpr std::string_view keys_of_llama[] = {
    "attention_dropout", "head_dim", "intermediate_size", "num_key_value_heads", "pretraining_tp",
    "rms_norm_eps", "rope_parameters", "rope_theta", "tie_word_embeddings"};
constexpr std::string_view keys_of_starcoder2[] = {
    "attention_dropout", "embedding_dropout", "head_dim", "hidden_act", "intermediate_size",
    "norm_epsilon", "num_key_value_heads", "residual_dropout", "rope_parameters", "rope_theta",
    "sliding_window", "tie_word_embeddings", "use_bias"};
// clang-format on

// Of a configuration. A model of no family has GPT-2's keys.
Family family_of(const JsonValue& config) {
  const std::string type = config.is_object() ? config.find("model_type").shown() : "";
  return type == "\"llama\""        ? Family::llama
         : type == "\"starcoder2\"" ? Family::starcoder2
                                    : Family::gpt2;
}
bool has_own_names(const JsonValue& config) { return family_of(config) != Family::gpt2; }

FeedForward read_form(const JsonValue& json) {
  const std::string name = json.string();
  if (name == "gelu" || name == "gelu_python") return FeedForward::gelu;
  if (name != "gelu_new" && name != "gelu_pytorch_tanh" && name != "gelu_fast")
    json.refuse("must be gelu_new, gelu_pytorch_tanh or gelu");
  return FeedForward::gelu_tanh;
}

std::string model_type_of(const LanguageModelSizes& sizes) {
  constexpr const char* types[] = {"fledge", "gpt2", "llama", "starcoder2"};
  return types[static_cast<int>(sizes.family())];
}

// The words under the key "without": all but the scale, for which GPT-2 has a key.
std::vector<std::string> listed_parts(Recipe recipe) {
  recipe.scale = Scale::root;
  return words_of_none(recipe);
}

Dim size_of(const JsonValue& value, Dim most = 2147483647) { return value.integer(1, most); }

bool has_gelu(const Recipe& recipe) {
  return recipe.mlp != FeedForward::swiglu && recipe.mlp != FeedForward::relu_squared;
}

double rotary_base(const JsonValue& json) {
  const double base = json.number();
  if (!(base >= 1)) json.refuse("must be 1 or more");
  return base;
}

// The recipe of a configuration of Llama or Starcoder2. LlamaConfig has a head of its own unless it
// says otherwise; Starcoder2Config, as all others of transformers, has none.
Recipe read_rotary(const JsonValue& config) {
  const bool is_llama = family_of(config) == Family::llama;
  Recipe recipe = is_llama ? llama() : Recipe{.position = Position::rotary};
  const bool is_tied =
      config.has("tie_word_embeddings") ? config["tie_word_embeddings"].boolean() : !is_llama;
  recipe.head = is_tied ? OutputHead::tied : OutputHead::own;
  if (!is_llama && config.has("hidden_act")) recipe.mlp = read_form(config["hidden_act"]);
  if (!is_llama && !config.find("sliding_window").is_null())
    recipe.window = size_of(config["sliding_window"]);
  const bool is_newer = !config.find("rope_parameters").is_null();  // of transformers 5
  const JsonValue rope = is_newer ? config["rope_parameters"] : config;
  for (const JsonValue& from : {config, rope})
    if (from.has("rope_theta")) recipe.rotary_base = rotary_base(from["rope_theta"]);
  if (is_newer && rope.has("rope_type") && rope["rope_type"].string() != "default")
    rope["rope_type"].refuse("must be default");
  if (is_newer) rope.allow_only({"rope_theta", "rope_type"});
  return recipe;
}

// `heads` is the value under n_head.
Recipe read_recipe(const JsonValue& config, const JsonValue& own, const JsonValue& heads) {
  Recipe recipe = has_own_names(config) ? read_rotary(config) : Recipe();
  if (!has_own_names(config) && config.has("activation_function"))
    recipe.mlp = read_form(config["activation_function"]);
  const bool has_without = !own.is_null() && own.has("without");
  std::vector<std::string> found;
  if (has_without)
    own["without"].each_item([&](const JsonValue& word) { found.push_back(word.string()); });
  recipe.each([&]<class Part>(const std::string& word, Part& part) {
    if (std::find(found.begin(), found.end(), word) != found.end()) part = Part::none;
  });
  if (!own.is_null()) read_forms(own, recipe);
  if (has_without && (found.empty() || found != listed_parts(recipe)))
    own["without"].refuse(
        "must have one or more of mask, positions, mlp, value, attention, residual and norm, in "
        "this order and each once");
  if (config.has("scale_attn_weights") && !config["scale_attn_weights"].boolean())
    recipe.scale = Scale::none;
  const bool is_starcoder2 = family_of(config) == Family::starcoder2;
  recipe.key_heads = 0;
  const JsonValue keys = is_starcoder2           ? config["num_key_value_heads"]
                         : has_own_names(config) ? config.find("num_key_value_heads")
                         : own.is_null()         ? own
                                                 : own.find("key_heads");
  if (keys.is_null() && !is_starcoder2) return recipe;
  const Dim most = size_of(heads);
  recipe.key_heads = keys.integer(1, most);
  if (most % recipe.key_heads != 0)
    keys.refuse("must divide " + heads.path() + ", " + heads.shown());
  if (recipe.key_heads == most) recipe.key_heads = 0;
  if (recipe.key_heads != 0 && recipe.values == ValueMatrix::none)
    keys.refuse("must be " + heads.path() + ", " + heads.shown() + ", in a model without value");
  return recipe;
}

// The value under a name. GPT2Config takes the second name for the same (its attribute_map), and
// other families have no other.
JsonValue value_of_either(const JsonValue& config, const char* name, const char* other) {
  const bool has_other = !config.find(other).is_null();
  return config[(has_other || has_own_names(config)) && !config.has(name) ? other : name];
}
// A size of the model.
Dim size_of(const JsonValue& config, const char* name, const char* other, Dim most = 2147483647) {
  const Dim size = size_of(value_of_either(config, name, other), most);
  if (!config.find(other).is_null() && size_of(config[other], most) != size)
    config[other].refuse("must be " + std::string(name) + ", " + std::to_string(size));
  return size;
}

double probability(const JsonValue& config, std::string_view key) {
  if (!config.has(key)) return 0;
  const double p = config[key].number();
  if (!(p >= 0 && p < 1)) config[key].fail("must be at least 0 and below 1: got " + json_number(p));
  return p;
}

std::string in_gigabytes(double bytes) { return message::digits(bytes / 1e9, 3) + " GB"; }

Json::Members gpt2_members(const LanguageModelSizes& sizes) {
  const Json hidden = sizes.hidden > 0 ? Json(sizes.hidden) : Json();
  Json::Members members{
      {"model_type", model_type_of(sizes)},
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
           (member.first == "tie_word_embeddings" && sizes.recipe.head == OutputHead::own) ||
           (member.first == "activation_function" && !has_gelu(sizes.recipe));
  });
  if (sizes.recipe.scale == Scale::none) members.push_back({"scale_attn_weights", false});
  if (sizes.bias == Bias::without) members.push_back({"bias", false});
  return members;
}

Json::Members members_of_others(const LanguageModelSizes& sizes) {
  const bool is_llama = sizes.family() == Family::llama;
  const Recipe& recipe = sizes.recipe;
  const std::string model = is_llama ? "LlamaForCausalLM" : "Starcoder2ForCausalLM";
  Json::Members members{{"model_type", model_type_of(sizes)},
                        {"architectures", std::vector<std::string>{model}},
                        {"vocab_size", sizes.vocabulary},
                        {"max_position_embeddings", sizes.context},
                        {"hidden_size", sizes.width},
                        {"intermediate_size", sizes.hidden_width()},
                        {"num_hidden_layers", sizes.layers},
                        {"num_attention_heads", sizes.heads},
                        {"num_key_value_heads", sizes.head_count().keys},
                        {"head_dim", sizes.width / sizes.heads},
                        {"rope_theta", recipe.rotary_base},
                        {"attention_dropout", 0.0},
                        {"tie_word_embeddings", recipe.head == OutputHead::tied},
                        {is_llama ? "rms_norm_eps" : "norm_epsilon", sizes.epsilon},
                        {"hidden_act", is_llama                          ? "silu"
                                       : recipe.mlp == FeedForward::gelu ? "gelu"
                                                                         : "gelu_pytorch_tanh"}};
  if (is_llama) {
    for (const char* key : {"attention_bias", "mlp_bias"}) members.push_back({key, false});
    if (sizes.dropout > 0) members.push_back({"resid_pdrop", sizes.dropout});  // Llama has none
  } else {
    members.push_back({"use_bias", sizes.bias == Bias::with});
    members.push_back({"sliding_window", recipe.window > 0 ? Json(recipe.window) : Json()});
    for (const char* key : {"residual_dropout", "embedding_dropout"})
      members.push_back({key, sizes.dropout});
  }
  return members;
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
  if (recipe.tie_qk) own.push_back({"tied_qk", true});
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
  if (own.has("tied_qk")) recipe.tie_qk = own["tied_qk"].boolean();
  if (own.has("window")) recipe.window = own["window"].integer(1, 2147483647);
  const auto found = forms_of(recipe);
  for (const auto& [key, words] : allowed)
    if (std::find(found.begin(), found.end(), std::pair(key, own[key].string())) == found.end())
      own[key].refuse("must be " + words);
  if (own.has("rotary_base")) recipe.rotary_base = rotary_base(own["rotary_base"]);
}

std::vector<std::string> check_config_keys(const JsonValue& config) {
  std::set<std::string_view> known(std::begin(known_keys), std::end(known_keys));
  known.insert(std::begin(keys_of_other_models), std::end(keys_of_other_models));
  const Family family = family_of(config);
  const auto is_read = [&](const OnlyValue& value) {
    return value.only == Family::none || value.only == family;
  };
  for (const OnlyValue& only : only_values)
    if (is_read(only)) known.insert(only.key);
  std::set<std::string_view> of_family;  // which are read
  if (family == Family::llama) of_family = {std::begin(keys_of_llama), std::end(keys_of_llama)};
  if (family == Family::starcoder2)
    of_family = {std::begin(keys_of_starcoder2), std::end(keys_of_starcoder2)};
  std::vector<std::string> unknown;
  config.each_member([&](const std::string& key, const JsonValue&) {
    if (!known.contains(key) && !of_family.contains(key)) unknown.push_back(key);
  });
  for (const OnlyValue& only : only_values) {
    const JsonValue found = config.find(only.key);
    std::string allowed;  // "true or false"
    bool fits = !config.has(only.key) || !is_read(only);
    for (const OnlyValue& one : only_values)
      if (one.key == only.key) {
        allowed += (allowed.empty() ? "" : " or ") + std::string(one.value);
        fits = fits || one.value == found.shown();
      }
    if (!fits) found.refuse("must be " + allowed);
  }
  for (const std::string_view key : keys_of_other_models)
    if (const JsonValue found = config.find(key);
        !found.is_null() && found.shown() != "false" && !of_family.contains(key))
      found.refuse("must be null or false, because this model has no such part");
  return unknown;
}

std::string config_json(const LanguageModelSizes& sizes, Json::Members own,
                        const Json::Members& notes) {
  const std::vector<std::string> parts = listed_parts(sizes.recipe);
  if (!parts.empty()) own.push_back({"without", parts});
  Json::Members members;
  if (const Family family = sizes.family();
      family == Family::llama || family == Family::starcoder2) {
    members = members_of_others(sizes);
    if (sizes.recipe.tie_qk) own.push_back({"tied_qk", true});
  } else {
    members = gpt2_members(sizes);
    for (auto& form : forms_json(sizes.recipe)) own.push_back(std::move(form));
  }
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
  const Family family = family_of(config);
  const bool is_llama = family == Family::llama, is_starcoder2 = family == Family::starcoder2,
             has_names = is_llama || is_starcoder2;
  LanguageModelSizes sizes{
      .vocabulary = size_of(config["vocab_size"]),
      .context = size_of(config, "n_positions", "max_position_embeddings"),
      .layers = size_of(config, "n_layer", "num_hidden_layers", most_layers),
      .heads = size_of(config, "n_head", "num_attention_heads"),
      .width = size_of(config, "n_embd", "hidden_size"),
      .dropout = probability(config, is_starcoder2 ? "residual_dropout" : "resid_pdrop")};
  if (is_llama) sizes.epsilon = 1e-6;
  if (const char* key = is_llama        ? "rms_norm_eps"
                        : is_starcoder2 ? "norm_epsilon"
                                        : "layer_norm_epsilon";
      config.has(key)) {
    const JsonValue epsilon = config[key];
    sizes.epsilon = epsilon.number();
    if (!(sizes.epsilon > 0)) epsilon.refuse("must be above 0");
  }
  const JsonValue heads = value_of_either(config, "n_head", "num_attention_heads"),
                  width = value_of_either(config, "n_embd", "hidden_size");
  if (sizes.width % sizes.heads != 0)
    heads.refuse("must divide " + width.path() + ", " + width.shown());
  if (const char* key = has_names ? "intermediate_size" : "n_inner";
      has_names || !config.find(key).is_null())
    sizes.hidden = size_of(config[key]);
  if (const Dim D = sizes.width / sizes.heads; has_names && !config.find("head_dim").is_null())
    if (const JsonValue given = config["head_dim"]; size_of(given) != D)
      given.refuse("must be hidden_size / num_attention_heads, " + std::to_string(D));
  for (const char* key : {"embd_pdrop", "attn_pdrop", "attention_dropout", "embedding_dropout"})
    probability(config, key);
  if (const char* key = is_starcoder2 ? "use_bias" : "bias"; config.has(key))
    sizes.bias = config[key].boolean() ? Bias::with : Bias::without;
  if (is_llama) sizes.bias = Bias::without;
  const JsonValue own = config.find("fledge");
  if (config.has("fledge") && !own.is_object()) own.refuse("must be an object");
  sizes.recipe = read_recipe(config, own, heads);
  // Runs of earlier versions of a model that is rotary have the type "fledge".
  const std::string right = model_type_of(sizes),
                    type = config.has("model_type") ? config["model_type"].string() : right;
  if (type != right && (type != "fledge" || sizes.recipe.is_gpt2()))
    config["model_type"].refuse("must be \"" + right + "\" for a model with these parts");
  LanguageModelSizes by_rule = sizes;
  by_rule.hidden = 0;
  if (has_names && by_rule.hidden_width() == sizes.hidden) sizes = by_rule;
  if (sizes.recipe.position == Position::rotary && sizes.width / sizes.heads % 2 != 0)
    heads.refuse("must divide " + width.path() +
                 " into heads of an even size for rotary positions");
  const double needed = parameter_count(sizes) * sizeof(Real), memory = machine_memory();
  if (needed > memory)
    config.fail("describes too large a model: its numbers need " + in_gigabytes(needed) +
                " of memory, this machine has " + in_gigabytes(memory));
  ModelConfig result{sizes, own, has_names || config.has("bias"), {}, std::move(unknown_keys), {}};
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
  const double tables = (sizes.recipe.head == OutputHead::own ? 2 * V : V) + (is_rotary ? 0 : T);
  return tables * C + number(sizes.layers) * (2 * norm + weights + biases + sinks) + norm;
}

}  // namespace fledge
