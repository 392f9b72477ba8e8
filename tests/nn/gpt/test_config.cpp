#include "nn/gpt/config.h"

#include "nn/gpt/weights.h"
#include "tests/nn/modules.h"
#include "tests/support/catch.h"
#include "tests/support/refusal.h"

using namespace tests;

namespace {

bool same_sizes(const LanguageModelSizes& a, const LanguageModelSizes& b) {
  return a.vocabulary == b.vocabulary && a.context == b.context && a.layers == b.layers &&
         a.heads == b.heads && a.width == b.width && a.hidden == b.hidden &&
         a.dropout == b.dropout && a.bias == b.bias && a.activation == b.activation &&
         a.epsilon == b.epsilon && words_of(a.variant.without) == words_of(b.variant.without);
}

// A small configuration with one key more, or another value for one of its own.
std::string with(const std::string& key, const std::string& value) {
  std::string text =
      R"("model_type":"gpt2","vocab_size":11,"n_positions":6,"n_embd":8,"n_layer":2,"n_head":2)";
  const std::size_t at = text.find("\"" + key + "\":");
  if (at == std::string::npos) return "{" + text + ",\"" + key + "\":" + value + "}";
  const std::size_t begin = at + key.size() + 3, end = std::min(text.find(',', begin), text.size());
  return "{" + text.replace(begin, end - begin, value) + "}";
}
std::string refused_config(const std::string& text) {
  const std::string message = refusal<FormatError>([&] { read_config(text); });
  const std::size_t colon = message.find(": ");  // behind the place
  return message.substr(0, 5) == "line " ? message.substr(colon + 2) : message;
}

}  // namespace

TEST_CASE("model config: sizes are read as they were written") {
  const LanguageModelSizes all[] = {
      {.vocabulary = 11, .context = 6},
      {.vocabulary = 1, .context = 1'000'000, .layers = 3, .heads = 2, .width = 2},
      {.vocabulary = 65,
       .context = 256,
       .layers = 6,
       .heads = 6,
       .width = 384,
       .hidden = 17,
       .dropout = 0.1,
       .bias = Bias::without}};
  for (const LanguageModelSizes& sizes : all) {
    const ModelConfig config = read_config(config_json(sizes));
    CHECK(same_sizes(config.sizes, sizes));
    CHECK(config.own.is_null());
  }
  const ModelConfig own = read_config(config_json(all[0], {{"tokens", "character"}}));
  CHECK(own.own["tokens"].string() == "character");
  CHECK(own.own.path() == "fledge");
}

TEST_CASE("model config: GPT-2's own file") {
  const ModelConfig config = read_config(R"({
  "activation_function": "gelu_new",
  "architectures": ["GPT2LMHeadModel"],
  "attn_pdrop": 0.1,
  "bos_token_id": 50256,
  "embd_pdrop": 0.1,
  "eos_token_id": 50256,
  "initializer_range": 0.02,
  "layer_norm_epsilon": 1e-05,
  "model_type": "gpt2",
  "n_ctx": 1024,
  "n_embd": 768,
  "n_head": 12,
  "n_layer": 12,
  "n_positions": 1024,
  "resid_pdrop": 0.1,
  "summary_activation": null,
  "summary_first_dropout": 0.1,
  "summary_proj_to_labels": true,
  "summary_type": "cls_index",
  "summary_use_proj": true,
  "task_specific_params": {"text-generation": {"do_sample": true, "max_length": 50}},
  "vocab_size": 50257
})");
  CHECK(same_sizes(config.sizes, {.vocabulary = 50257,
                                  .context = 1024,
                                  .layers = 12,
                                  .heads = 12,
                                  .width = 768,
                                  .dropout = 0.1}));
  CHECK(parameter_count(config.sizes) == 124'439'808);  // as it is known for
  CHECK_FALSE(read_config(with("n_ctx", "6")).says_bias);
  CHECK(read_config(with("bias", "false")).says_bias);
  CHECK(read_config(with("bias", "false")).sizes.bias == Bias::without);
}

TEST_CASE("model config: each number has its range") {
  const auto whole = [](const std::string& key) {
    return key + " must be a whole number from 1 to " + (key == "n_layer" ? "1000" : "2147483647") +
           ": got ";
  };
  for (const char* key : {"vocab_size", "n_positions", "n_embd", "n_layer", "n_head", "n_inner"})
    for (const char* value : {"0", "-1", "2147483648", "1.5", "1e3", "\"8\"", "true", "[]"}) {
      INFO(key << " " << value);
      const std::string message = refused_config(with(key, value));
      CHECK_THAT(message, StartsWith(whole(key)));
    }
  CHECK(refused_config(with("n_head", "3")) == "n_head must divide n_embd, 8: got 3");
  for (const char* key : {"resid_pdrop", "embd_pdrop", "attn_pdrop"})
    for (const char* value : {"1", "-0.1", "2e10"})
      CHECK_THAT(refused_config(with(key, value)),
                 StartsWith(std::string(key) + " must be at least 0 and below 1: got "));
  CHECK(refused_config(with("resid_pdrop", "null")) == "resid_pdrop must be a number: got null");
  CHECK(refused_config(with("resid_pdrop", "NaN")) == "expected a value");
  CHECK(read_config(with("embd_pdrop", "0.25")).sizes.dropout == 0);
  CHECK(read_config(with("resid_pdrop", "0.25")).sizes.dropout == 0.25);
  CHECK(read_config(with("attn_pdrop", "0.25")).sizes.dropout == 0);
}

TEST_CASE("model config: what this model cannot be is refused by name") {
  for (const auto& [key, value, message] :
       {std::tuple<const char*, const char*, const char*>{
            "model_type", "\"llama\"", R"(model_type must be "gpt2": got "llama")"},
        {"activation_function", "\"relu\"",
         R"(activation_function must be gelu_new or gelu: got "relu")"},
        {"layer_norm_epsilon", "-1e-5", "layer_norm_epsilon must be above 0: got -1e-5"},
        {"layer_norm_epsilon", "0", "layer_norm_epsilon must be above 0: got 0"},
        {"scale_attn_weights", "0", "scale_attn_weights must be true: got 0"},
        {"scale_attn_by_inverse_layer_idx", "true",
         "scale_attn_by_inverse_layer_idx must be false: got true"},
        {"is_encoder_decoder", "true", "is_encoder_decoder must be false: got true"},
        {"pruned_heads", R"({"0":[1]})", R"(pruned_heads must be {}: got {"0":[1]})"},
        {"tie_word_embeddings", "false", "tie_word_embeddings must be true: got false"},
        {"add_cross_attention", "true", "add_cross_attention must be false: got true"},
        {"bias", "0", "bias must be true or false: got 0"},
        {"fledge", "null", "fledge must be an object: got null"}})
    CHECK(refused_config(with(key, value)) == message);
}

TEST_CASE("model config: both forms of gelu by all of their names, and any epsilon") {
  for (const auto& [name, activation] : {std::pair{"gelu_new", Activation::gelu_tanh},
                                         {"gelu_pytorch_tanh", Activation::gelu_tanh},
                                         {"gelu_fast", Activation::gelu_tanh},
                                         {"gelu", Activation::gelu},
                                         {"gelu_python", Activation::gelu}}) {
    const LanguageModelSizes sizes =
        read_config(with("activation_function", "\"" + std::string(name) + "\"")).sizes;
    CHECK(sizes.activation == activation);
    CHECK(read_config(config_json(sizes)).sizes.activation == activation);
  }
  const LanguageModelSizes sizes = read_config(with("layer_norm_epsilon", "1e-6")).sizes;
  CHECK(sizes.epsilon == 1e-6);
  CHECK(read_config(config_json(sizes)).sizes.epsilon == 1e-6);
  CHECK_NOTHROW(read_config(with("reorder_and_upcast_attn", "true")));  // it changes no formula
  CHECK(read_config(config_json(sizes, {}, {{"torch_dtype", "float16"}})).sizes.epsilon == 1e-6);
}

TEST_CASE("model config: keys that are missing, unknown or there twice") {
  for (const char* key : {"vocab_size", "n_positions", "n_embd", "n_layer", "n_head"}) {
    std::string text = with("use_cache", "true");
    text.replace(text.find(key), 1, "_");  // another key
    CHECK(refused_config(text) == "the text must have a key '" + std::string(key) + "'");
  }
  std::string untyped = with("n_ctx", "7");
  untyped.erase(1, std::string(R"("model_type":"gpt2",)").size());
  CHECK(same_sizes(read_config(untyped).sizes, read_config(with("n_ctx", "6")).sizes));
  CHECK(read_config(with("afn", "1")).unknown_keys == std::vector<std::string>{"afn"});
  const auto message = [](const std::string& text) {
    return refusal<FormatError>([&] { read_config(text); });
  };
  CHECK(message("{\"n_embd\": 8,\r\n \"n_embd\": 8}") ==
        "line 2, column 2: the key 'n_embd' occurs twice");
  CHECK(message("") == "line 1, column 1: expected a value");
  CHECK(message("[]") == "line 1, column 1: the text must be an object: got []");
  CHECK(message("{\n// sizes\n}") == "line 2, column 1: expected a key in double quotes");
}

// attribute_map of GPT2Config in transformers 4.
TEST_CASE("model config: a size may have the name that other models give it") {
  for (const auto& [name, other] : {std::pair{"n_positions", "max_position_embeddings"},
                                    {"n_embd", "hidden_size"},
                                    {"n_layer", "num_hidden_layers"},
                                    {"n_head", "num_attention_heads"}}) {
    const LanguageModelSizes sizes = read_config(with("n_special", "0")).sizes;
    const std::string value = read_json(with("n_special", "0"))[name].shown();
    CHECK(same_sizes(read_config(with(other, value)).sizes, sizes));
    std::string alone = with("n_special", "0");
    alone.replace(alone.find(name), std::string(name).size(), other);
    CHECK(same_sizes(read_config(alone).sizes, sizes));
    CHECK(refused_config(with(other, "5")) ==
          std::string(other) + " must be " + name + ", " + value + ": got 5");
  }
}

TEST_CASE("model config: the tokens that begin, end and fill texts") {
  for (const MarkTokens& marks :
       {MarkTokens{}, MarkTokens{3, {3}, {}}, MarkTokens{{}, {7, 2}, 0}, MarkTokens{1, {}, 50'000}})
    CHECK(read_config(config_json({.vocabulary = 11, .context = 6}, {}, mark_notes(marks))).marks ==
          marks);
  CHECK(read_json(generation_config_json({{}, {7, 2}, 0})).shown() ==
        read_json("{\n  \"bos_token_id\": null,\n  \"eos_token_id\": [\n    7,\n    2\n  ],\n  "
                  "\"pad_token_id\": 0\n}")
            .shown());
  for (const char* no_id : {"null", "-1", "1.5", "\"</s>\"", "{}", "[]", "[-1]"})
    CHECK(read_config(with("eos_token_id", no_id)).marks == MarkTokens{});
}

TEST_CASE("model config: what no memory holds is refused before it is asked for") {
  CHECK_THAT(refused_config(with("n_embd", "2147483646")),
             StartsWith("the text describes too large a model: LanguageModel: its numbers must fit "
                        "into memory: 4.43e+11 GB of "));
  CHECK(refused_config(with("n_layer", "1001")) ==
        "n_layer must be a whole number from 1 to 1000: got 1001");
}

TEST_CASE("model config: parameters are counted without a model") {
  for (const Bias bias : {Bias::with, Bias::without})
    for (const Dim hidden : {0, 5}) {
      const LanguageModelSizes sizes{.vocabulary = 7,
                                     .context = 3,
                                     .layers = 2,
                                     .heads = 2,
                                     .width = 4,
                                     .hidden = hidden,
                                     .bias = bias};
      Rng rng(1);
      const LanguageModel model(sizes, rng);
      CHECK(parameter_count(sizes) == static_cast<double>(count_parameters(model)));
      CHECK(weights_bytes(model).size() <= most_file_bytes(sizes));
      CHECK(most_file_bytes(sizes, 3) > most_file_bytes(sizes));
    }
}

TEST_CASE("model config: what a model is without is read as it was written") {
  for (int bits = 0; bits < 256; ++bits) {
    LanguageModelSizes sizes{.vocabulary = 11, .context = 6};
    int bit = 1;
    sizes.variant.without.each([&](const char*, bool& is_without) {
      is_without = (bits & bit) != 0;
      bit *= 2;
    });
    const std::string text = config_json(sizes);
    CAPTURE(text);
    CHECK(same_sizes(read_config(text).sizes, sizes));
    const Without& without = sizes.variant.without;
    const bool is_other = without.mask || without.residual || without.norm;
    CHECK((text.find("\"model_type\": \"gpt2\"") == std::string::npos) == is_other);
    CHECK((text.find("GPT2LMHeadModel") == std::string::npos) == is_other);
    CHECK((text.find("\"scale_attn_weights\": false") != std::string::npos) == without.scale);
  }
}

TEST_CASE("model config: a list of left out parts that no fledge writes is refused") {
  const std::string order =
      "fledge.without must have one or more of mask, positions, mlp, value, attention, residual "
      "and norm, in this order and each once: got ";
  for (const char* list :
       {"[]", R"(["scale"])", R"(["mlp","mlp"])", R"(["mlp","positions"])", R"(["maks"])"})
    CHECK(refused_config(with("fledge", R"({"without":)" + std::string(list) + "}")) ==
          order + list);
  CHECK(refused_config(with("fledge", R"({"without":["mask"]})")) ==
        R"(model_type must be "fledge" for a model without mask, residual or norm: got "gpt2")");
  CHECK(refused_config(with("model_type", R"("fledge")")) ==
        R"(model_type must be "gpt2" for a model with mask, residual and norm: got "fledge")");
  CHECK(read_config(with("scale_attn_weights", "false")).sizes.variant.without.scale);
  CHECK_FALSE(read_config(with("scale_attn_weights", "true")).sizes.variant.without.scale);
}
