#include "nn/gpt/config.h"

#include <algorithm>

namespace fledge {

namespace {

constexpr double layer_norm_epsilon = 1e-5;  // LayerNorm's own

void check_keys(const JsonValue& config) {
  config.allow_only({// sizes
                     "vocab_size", "n_positions", "n_ctx", "n_embd", "n_layer", "n_head", "n_inner",
                     "bias", "resid_pdrop", "embd_pdrop", "attn_pdrop", "fledge",
                     // checked in check_meaning()
                     "model_type", "activation_function", "layer_norm_epsilon",
                     "scale_attn_weights", "scale_attn_by_inverse_layer_idx",
                     "reorder_and_upcast_attn", "tie_word_embeddings", "add_cross_attention",
                     // in GPT-2's files; they change no output of the model
                     "_name_or_path", "_num_labels", "architectures", "bos_token_id", "dtype",
                     "eos_token_id", "finetuning_task", "gradient_checkpointing", "id2label",
                     "initializer_range", "label2id", "n_special", "num_labels",
                     "output_attentions", "output_hidden_states", "output_past", "pad_token_id",
                     "predict_special_tokens", "return_dict", "summary_activation",
                     "summary_first_dropout", "summary_proj_to_labels", "summary_type",
                     "summary_use_proj", "task_specific_params", "tokenizer_class", "torch_dtype",
                     "torchscript", "transformers_version", "use_cache"});
}

// Options of GPT-2's configurations that must have the one value that this model supports.
void check_meaning(const JsonValue& config) {
  const auto expect = [&](std::string_view key, bool expected) {
    if (config.has(key) && config[key].boolean() != expected)
      config[key].fail(std::string("must be ") + (expected ? "true" : "false") + " here");
  };
  expect("scale_attn_weights", true);
  expect("scale_attn_by_inverse_layer_idx", false);
  expect("reorder_and_upcast_attn", false);
  expect("tie_word_embeddings", true);
  expect("add_cross_attention", false);
  const JsonValue type = config["model_type"];
  if (type.string() != "gpt2") type.fail("must be 'gpt2': got " + in_quotes(type.string()));
  if (config.has("activation_function")) {
    const JsonValue name = config["activation_function"];  // both are the tanh form of gelu
    if (name.string() != "gelu_new" && name.string() != "gelu_pytorch_tanh")
      name.fail("must be 'gelu_new': got " + in_quotes(name.string()));
  }
  if (config.has("layer_norm_epsilon") &&
      config["layer_norm_epsilon"].number() != layer_norm_epsilon)
    config["layer_norm_epsilon"].fail("must be 1e-5");
}

Dim size_of(const JsonValue& value, Dim most = 2147483647) { return value.integer(1, most); }

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

}  // namespace

std::string config_json(const LanguageModelSizes& sizes,
                        const std::function<void(JsonWriter&)>& own) {
  JsonWriter json(JsonWriter::Layout::indented);
  json.begin_object().field("model_type", "gpt2");
  json.key("architectures").begin_array().value("GPT2LMHeadModel").end_array();
  json.field("vocab_size", sizes.vocabulary)
      .field("n_positions", sizes.context)
      .field("n_ctx", sizes.context)
      .field("n_embd", sizes.width)
      .field("n_layer", sizes.layers)
      .field("n_head", sizes.heads)
      .key("n_inner");
  if (sizes.hidden > 0)
    json.value(sizes.hidden);
  else
    json.value(nullptr);
  json.field("activation_function", "gelu_new")
      .field("layer_norm_epsilon", layer_norm_epsilon)
      .field("resid_pdrop", sizes.dropout)
      .field("embd_pdrop", sizes.dropout)
      .field("attn_pdrop", 0.0)
      .field("tie_word_embeddings", true);
  if (sizes.bias == Bias::without) json.field("bias", false);
  if (own) own(json.key("fledge"));
  return json.end_object().text() + "\n";
}

ModelConfig read_config(std::string text) {
  const JsonValue config = read_json(text);
  check_keys(config);
  check_meaning(config);
  LanguageModelSizes sizes{.vocabulary = size_of(config["vocab_size"]),
                           .context = size_of(config["n_positions"]),
                           .layers = size_of(config["n_layer"], most_layers),
                           .heads = size_of(config["n_head"]),
                           .width = size_of(config["n_embd"]),
                           .dropout = probability(config, "resid_pdrop")};
  if (config.has("n_ctx") && size_of(config["n_ctx"]) != sizes.context)
    config["n_ctx"].fail("must be n_positions, " + std::to_string(sizes.context));
  if (sizes.width % sizes.heads != 0)
    config["n_head"].fail("must divide n_embd, " + std::to_string(sizes.width) + ": got " +
                          std::to_string(sizes.heads));
  if (!config.find("n_inner").is_null()) sizes.hidden = size_of(config["n_inner"]);
  if (probability(config, "embd_pdrop") != sizes.dropout)
    config["embd_pdrop"].fail("must be resid_pdrop, " + json_number(sizes.dropout));
  probability(config, "attn_pdrop");
  if (config.has("bias")) sizes.bias = config["bias"].boolean() ? Bias::with : Bias::without;
  const JsonValue own = config.find("fledge");
  if (config.has("fledge")) own.find("");  // throws unless it is an object
  try {
    require_memory(sizes);
  } catch (const ValueError& error) {
    config.fail(std::string("describes too large a model: ") + error.what());
  }
  return {sizes, own, config.has("bias"), std::move(text)};
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
