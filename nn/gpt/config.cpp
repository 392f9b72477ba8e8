#include "nn/gpt/config.h"

#include <algorithm>

#include "nn/gpt/config_keys.h"
#include "nn/io/checksum.h"

namespace fledge {

namespace {

// Names of GPT-2's configurations for the activation; the first of each form is written.
constexpr std::pair<std::string_view, Activation> activations[] = {
    {"gelu_new", Activation::gelu_tanh},
    {"gelu_pytorch_tanh", Activation::gelu_tanh},
    {"gelu_fast", Activation::gelu_tanh},
    {"gelu", Activation::gelu},
    {"gelu_python", Activation::gelu}};

Activation read_activation(const JsonValue& json) {
  const std::string name = json.string();
  for (const auto& [known, activation] : activations)
    if (name == known) return activation;
  json.fail("must be gelu_new or gelu: got " + json.shown());
}

std::string model_type_of(const Without& without) {
  return without.is_other_formula() ? "fledge" : "gpt2";
}

// The words under the key "without": all but the scale, for which GPT-2 has a key.
std::vector<std::string> listed_parts(Without without) {
  without.scale = false;
  return words_of(without);
}

Without read_without(const JsonValue& config, const JsonValue& own) {
  Without without;
  if (!own.is_null() && own.has("without")) {
    std::vector<std::string> found;
    own["without"].each_item([&](const JsonValue& word) { found.push_back(word.string()); });
    without.each([&](const std::string& word, bool& is_without) {
      is_without = std::find(found.begin(), found.end(), word) != found.end();
    });
    if (found.empty() || found != listed_parts(without))
      own["without"].fail(
          "must have one or more of mask, positions, mlp, value, attention, residual and norm, in "
          "this order and each once: got " +
          own["without"].shown());
  }
  without.scale = config.has("scale_attn_weights") && !config["scale_attn_weights"].boolean();
  if (!config.has("model_type")) return without;
  const std::string type = config["model_type"].string();
  if (type != model_type_of(without))
    config["model_type"].fail(
        "must be \"" + model_type_of(without) + "\" for a model with" +
        (without.is_other_formula() ? "out mask, residual or norm" : " mask, residual and norm") +
        ": got \"" + type + "\"");
  return without;
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

// Throws ValueError unless the weights of such a model fit into the memory of this machine.
void require_memory(const LanguageModelSizes& sizes) {
  const double needed = parameter_count(sizes) * sizeof(Real);
  const double memory = machine_memory();
  require<ValueError>(needed <= memory, "LanguageModel",
                      "its numbers must fit into memory: ", in_gigabytes(needed), " of ",
                      in_gigabytes(memory));
}

std::string_view name_of(Activation activation) {
  return std::find_if(std::begin(activations), std::end(activations),
                      [&](const auto& named) { return named.second == activation; })
      ->first;
}

// A number of a token below `end`; nullopt for any other value.
std::optional<Dim> token_of(const JsonValue& json, Dim end) {
  const std::optional<std::uint64_t> number = unsigned_number(json.shown(), 10);
  if (!number || *number >= static_cast<std::uint64_t>(end)) return {};
  return static_cast<Dim>(*number);
}

// Calls f for each element of an array, or for what is no array.
template <class F>
void each_or_itself(const JsonValue& json, const F& f) {
  if (json.is_array())
    json.each_item(f);
  else
    f(json);
}

}  // namespace

std::string config_json(const LanguageModelSizes& sizes, Json::Members own,
                        const Json::Members& notes) {
  const Without& without = sizes.variant.without;
  const std::vector<std::string> parts = listed_parts(without);
  if (!parts.empty()) own.emplace_back("without", parts);
  const Json hidden = sizes.hidden > 0 ? Json(sizes.hidden) : Json();
  Json::Members members{{"model_type", model_type_of(without)}};
  if (!without.is_other_formula())
    members.emplace_back("architectures", std::vector<std::string>{"GPT2LMHeadModel"});
  const Json::Members numbers{{"vocab_size", sizes.vocabulary},
                              {"n_positions", sizes.context},
                              {"n_ctx", sizes.context},
                              {"n_embd", sizes.width},
                              {"n_layer", sizes.layers},
                              {"n_head", sizes.heads},
                              {"n_inner", hidden},
                              {"activation_function", name_of(sizes.activation)},
                              {"layer_norm_epsilon", sizes.epsilon},
                              {"resid_pdrop", sizes.dropout},
                              {"embd_pdrop", sizes.dropout},
                              {"attn_pdrop", 0.0},
                              {"tie_word_embeddings", true}};
  members.insert(members.end(), numbers.begin(), numbers.end());
  if (without.scale) members.emplace_back("scale_attn_weights", false);
  if (sizes.bias == Bias::without) members.emplace_back("bias", false);
  members.insert(members.end(), notes.begin(), notes.end());
  if (!own.empty()) members.emplace_back("fledge", Json::object(own));
  return Json::object(members).indented() + "\n";
}

Json::Members mark_notes(const MarkTokens& marks) {
  Json ends;  // null
  if (marks.ends.size() == 1)
    ends = marks.ends[0];
  else if (!marks.ends.empty())
    ends = marks.ends;
  Json::Members members{{"bos_token_id", marks.begin}, {"eos_token_id", ends}};
  if (marks.pad) members.emplace_back("pad_token_id", *marks.pad);
  return members;
}

MarkTokens read_marks(const JsonValue& config) {
  constexpr Dim most = 2147483648;
  MarkTokens marks{
      token_of(config.find("bos_token_id"), most), {}, token_of(config.find("pad_token_id"), most)};
  each_or_itself(config.find("eos_token_id"), [&](const JsonValue& json) {
    if (const std::optional<Dim> id = token_of(json, most)) marks.ends.push_back(*id);
  });
  return marks;
}

std::vector<std::string> other_marks(const JsonValue& config, Dim vocabulary) {
  std::vector<std::string> others;
  const auto check = [&](const JsonValue& json) {
    if (!json.is_null() && !token_of(json, vocabulary))
      others.push_back(json.path() + " " + json.shown());
  };
  check(config.find("bos_token_id"));
  each_or_itself(config.find("eos_token_id"), check);
  check(config.find("pad_token_id"));
  return others;
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
  if (config.has("activation_function"))
    sizes.activation = read_activation(config["activation_function"]);
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
  sizes.variant.without = read_without(config, own);
  try {
    require_memory(sizes);
  } catch (const ValueError& error) {
    config.fail(std::string("describes too large a model: ") + error.what());
  }
  return {sizes,
          own,
          config.has("bias"),
          read_marks(config),
          std::move(unknown_keys),
          other_marks(config, sizes.vocabulary)};
}

double parameter_count(const LanguageModelSizes& sizes) {
  const auto number = [](Dim size) { return static_cast<double>(size); };
  const double C = number(sizes.width), V = number(sizes.vocabulary), T = number(sizes.context);
  const double hidden = sizes.hidden > 0 ? number(sizes.hidden) : 4 * C;
  const double norm = 2 * C;
  const double weights = C * 3 * C + C * C + C * hidden + hidden * C;
  const double biases = sizes.bias == Bias::with ? 3 * C + C + hidden + C : 0;
  return V * C + T * C + number(sizes.layers) * (2 * norm + weights + biases) + norm;
}

}  // namespace fledge
