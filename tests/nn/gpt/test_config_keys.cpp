// What the libraries of Hugging Face require of a folder, in tables with their sources. The libraries
// themselves are not needed: their rules stand here.
#include "nn/gpt/config_keys.h"

#include "nn/gpt/config.h"
#include "nn/gpt/weights.h"
#include "tests/nn/modules.h"
#include "tests/support/catch.h"
#include "tests/support/refusal.h"

using namespace tests;

namespace {

// transformers 4, src/transformers/models/gpt2/configuration_gpt2.py: the arguments of
// GPT2Config.__init__ and their defaults. `written`: what fledge writes for a model of 11 tokens,
// context 6, width 8, 2 layers, 2 heads; "" if it leaves the key to its default.
struct Key {
  const char *name, *standard, *written;
};
constexpr Key gpt2_config[] = {{"vocab_size", "50257", "11"},
                               {"n_positions", "1024", "6"},
                               {"n_embd", "768", "8"},
                               {"n_layer", "12", "2"},
                               {"n_head", "12", "2"},
                               {"n_inner", "null", "null"},
                               {"activation_function", "\"gelu_new\"", "\"gelu_new\""},
                               {"resid_pdrop", "0.1", "0"},
                               {"embd_pdrop", "0.1", "0"},
                               {"attn_pdrop", "0.1", "0"},
                               {"layer_norm_epsilon", "1e-05", "1e-05"},
                               {"initializer_range", "0.02", ""},
                               {"summary_type", "\"cls_index\"", ""},
                               {"summary_use_proj", "true", ""},
                               {"summary_activation", "null", ""},
                               {"summary_proj_to_labels", "true", ""},
                               {"summary_first_dropout", "0.1", ""},
                               {"scale_attn_weights", "true", ""},
                               {"use_cache", "true", ""},
                               {"bos_token_id", "50256", "3"},
                               {"eos_token_id", "50256", "3"},
                               {"scale_attn_by_inverse_layer_idx", "false", ""},
                               {"reorder_and_upcast_attn", "false", ""}};

constexpr LanguageModelSizes small{
    .vocabulary = 11, .context = 6, .layers = 2, .heads = 2, .width = 8};

}  // namespace

TEST_CASE("config keys: GPT2Config's arguments are known, with their defaults") {
  std::string all = R"({"model_type": "gpt2")";
  for (const Key& key : gpt2_config) all += ", \"" + std::string(key.name) + "\": " + key.standard;
  CHECK_NOTHROW(check_config_keys(read_json(all + "}")));
  CHECK(read_config(all + "}").sizes.dropout == 0.1);
}

TEST_CASE("config keys: what fledge writes says all that differs from GPT2Config's defaults") {
  const JsonValue written = read_json(config_json(small, {}, mark_notes({3, {3}, {}})));
  for (const Key& key : gpt2_config) {
    INFO(key.name);
    const JsonValue value = written.find(key.name);
    CHECK((written.has(key.name) ? value.shown() : "") == key.written);
  }
  // modeling_auto.py finds the class by model_type; "architectures" names it for other tools.
  CHECK(written["model_type"].string() == "gpt2");
  written["architectures"].each_item(
      [](const JsonValue& name) { CHECK(name.string() == "GPT2LMHeadModel"); });
  CHECK(written["architectures"].is_array());
  // tie_word_embeddings: lm_head.weight is wte.weight and is not stored (_tied_weights_keys).
  CHECK(written["tie_word_embeddings"].boolean());
}

// modeling_gpt2.py: the parameters of GPT2LMHeadModel, with Conv1D's (in, out) weights. from_pretrained
// adds the prefix "transformer." to names without it (base_model_prefix), and initialises what is
// missing anew: so every one of them must be stored, the biases too.
TEST_CASE("config keys: the stored tensors are those that GPT2LMHeadModel loads") {
  for (const Bias bias : {Bias::with, Bias::without}) {
    LanguageModelSizes sizes = small;
    sizes.bias = bias;
    Rng rng(1);
    std::map<std::string, Shape> expected{
        {"wte.weight", {11, 8}}, {"wpe.weight", {6, 8}}, {"ln_f.weight", {8}}, {"ln_f.bias", {8}}};
    for (const std::string h : {"h.0.", "h.1."})
      for (const auto& [name, shape] : std::map<std::string, Shape>{{"ln_1.weight", {8}},
                                                                    {"ln_1.bias", {8}},
                                                                    {"attn.c_attn.weight", {8, 24}},
                                                                    {"attn.c_attn.bias", {24}},
                                                                    {"attn.c_proj.weight", {8, 8}},
                                                                    {"attn.c_proj.bias", {8}},
                                                                    {"ln_2.weight", {8}},
                                                                    {"ln_2.bias", {8}},
                                                                    {"mlp.c_fc.weight", {8, 32}},
                                                                    {"mlp.c_fc.bias", {32}},
                                                                    {"mlp.c_proj.weight", {32, 8}},
                                                                    {"mlp.c_proj.bias", {8}}})
        expected[h + name] = shape;
    std::map<std::string, Shape> stored;
    const std::string bytes = weights_bytes(LanguageModel(sizes, rng), {{"format", "pt"}});
    const StoredHeader header = stored_header(bytes);
    for (const StoredTensor& tensor : header.tensors) stored[tensor.name] = tensor.shape;
    CHECK(stored.size() == expected.size());
    for (const auto& [name, shape] : expected) {
      INFO(name);
      CHECK(to_string(stored[name]) == to_string(shape));
    }
    // modeling_utils.py refuses a safetensors file whose metadata has no "format": "pt".
    CHECK(header.text("format") == "pt");
  }
}

TEST_CASE("config keys: unknown keys are listed, and keys that ask for another model refused") {
  const auto problem = [](const std::string& member) {
    const std::string message =
        refusal<FormatError>([&] { check_config_keys(read_json("{" + member + "}")); });
    return message.substr(message.find(": ") + 2);
  };
  const auto unknown = [](const std::string& members) {
    return check_config_keys(read_json("{" + members + "}"));
  };
  CHECK(unknown(R"("n_layer": 2, "n_layers": 2, "n_ctx": 1, "transformers.js_config": {})") ==
        std::vector<std::string>{"n_layers", "transformers.js_config"});
  CHECK(unknown(R"("quantization_config": null, "use_alibi": false)").empty());
  CHECK(problem(R"("add_cross_attention": true)") == "add_cross_attention must be false: got true");
  for (const char* member : {R"("quantization_config": {})", R"("n_experts": 8)",
                             R"("rope_theta": 10000.0)", R"("sliding_window": 64)"})
    CHECK_THAT(problem(member), ContainsSubstring(" must be null or false, because GPT-2's"));
}
