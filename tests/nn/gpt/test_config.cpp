// config.json: what is written is read, and is what the libraries of Hugging Face require. Files with
// one error each are in tests/formats/config.txt.
#include "nn/gpt/config.h"

#include "nn/gpt/weights.h"
#include "nn/io/files.h"
#include "tests/nn/modules.h"

using namespace tests;

namespace {

const std::string config_files = FLEDGE_SOURCE_DIR "/tests/formats/";

constexpr LanguageModelSizes written_sizes{
    .vocabulary = 11, .context = 6, .layers = 2, .heads = 2, .width = 8};

// The keys of a small configuration, with one more.
std::string with_key(const std::string& key, const std::string& value) {
  return R"({"vocab_size":11,"n_positions":6,"n_embd":8,"n_layer":2,"n_head":2,")" + key +
         "\":" + value + "}";
}

}  // namespace

TEST_CASE("model config: sizes and recipe are read as they were written") {
  for (int bits = 0; bits < 256; ++bits) {
    LanguageModelSizes sizes{.vocabulary = 1 + 64 * (bits % 2),
                             .context = bits % 3 == 0 ? 1'000'000 : 256,
                             .layers = 1 + bits % 6,
                             .heads = 1 + bits % 3,
                             .width = 6 * (1 + bits % 5),
                             .hidden = bits % 4 == 0 ? 17 : 0,
                             .dropout = bits % 7 / 10.0,
                             .bias = bits % 11 == 0 ? Bias::without : Bias::with,
                             .epsilon = bits % 2 == 0 ? 1e-5 : 1e-6};
    if (bits % 5 == 0) sizes.recipe.mlp = FeedForward::gelu;
    int bit = 1;
    sizes.recipe.each([&]<class Part>(const char*, Part& part) {
      if ((bits & bit) != 0) part = Part::none;
      bit *= 2;
    });
    if (bits % 9 == 0) sizes.recipe.sink = Sink::learned;
    if (bits % 13 == 0 && sizes.heads > 1 && sizes.recipe.values != ValueMatrix::none)
      sizes.recipe.key_heads = 1;
    int form_bit = 3;
    Recipe::each_form(sizes.recipe, [&](const char*, auto& member, auto form, const char*) {
      form_bit *= 2;
      if (bits % 7 == 0 && (bits & form_bit) != 0 && sizes.width / sizes.heads % 2 == 0)
        member = form;
    });
    if (bits % 14 == 7) sizes.recipe.window = bits;
    if (sizes.recipe.position == Position::rotary) sizes.recipe.rotary_base = 500 + bits;
    const std::string text = config_json(sizes, {}, {{"torch_dtype", "float16"}});
    CAPTURE(text);
    const ModelConfig config = read_config(text);
    CHECK(config.sizes == sizes);
    CHECK(config.says_bias == (sizes.bias == Bias::without));
    CHECK(config.unknown_keys.empty());
    Recipe listed = sizes.recipe;
    listed.scale = Scale::root;  // for which GPT-2 has a key
    CHECK(config.own.is_null() == (words_of_none(listed).empty() && forms_of(listed).empty()));
    const auto says = [&](const std::string& part) { return text.find(part) != text.npos; };
    CHECK(says("\"model_type\": \"gpt2\"") == sizes.recipe.is_gpt2());
    CHECK(says("GPT2LMHeadModel") == sizes.recipe.is_gpt2());
    CHECK(says("\"scale_attn_weights\": false") == (sizes.recipe.scale == Scale::none));
  }
  for (const bool is_llama : {true, false})  // or Starcoder2: GPT-2 with rotary positions
    for (const int bits : {0, 1, 2, 3, 4, 5, 6, 7}) {
      LanguageModelSizes sizes = written_sizes;
      if (is_llama) sizes.recipe = llama(), sizes.epsilon = bits % 4 == 0 ? 1e-5 : 1e-6;
      sizes.recipe.position = Position::rotary;
      sizes.bias = is_llama || bits % 2 == 1 ? Bias::without : Bias::with;
      sizes.hidden = bits % 2 == 0 ? 17 : 0;
      if (bits % 4 < 2) sizes.recipe.key_heads = 1, sizes.recipe.rotary_base = 500 + bits;
      if (bits < 4) sizes.recipe.head = OutputHead::own, sizes.dropout = 0.1;
      if (bits < 4 && !is_llama) sizes.epsilon = 0.5;
      if (bits > 2 && !is_llama) sizes.recipe.window = bits, sizes.recipe.mlp = FeedForward::gelu;
      const std::string text = config_json(sizes), name = is_llama ? "lama" : "tarcoder";
      CAPTURE(text);
      CHECK(text.find(is_llama ? "\"LlamaForCausalLM\"" : "\"Starcoder2ForCausalLM\"") !=
            text.npos);
      if (!is_llama) CHECK(read_json(text)["embedding_dropout"].number() == sizes.dropout);
      const ModelConfig config = read_config(text);
      CHECK((config.sizes == sizes && config.unknown_keys.empty() && config.own.is_null()));
      if (is_llama) sizes.bias = Bias::with;             // which Llama has not
      if (!is_llama) sizes.recipe.sink = Sink::learned;  // nor Starcoder2 this
      CHECK(config_json(sizes).find(name) == text.npos);
      CHECK(read_config(config_json(sizes)).sizes == sizes);
    }
  for (const MarkTokens& marks :
       {MarkTokens{}, MarkTokens{3, {3}, {}}, MarkTokens{{}, {7, 2}, 0}, MarkTokens{1, {}, 50'000}})
    CHECK(read_config(config_json(written_sizes, {}, mark_notes(marks))).marks == marks);
  for (const char* no_id : {"null", "-1", "1.5", "\"</s>\"", "{}", "[]", "[-1]", "2147483648"})
    CHECK(read_config(with_key("eos_token_id", no_id)).marks == MarkTokens{});
  const ModelConfig marked = read_config(with_key("eos_token_id", "[7, \"</s>\", 11]"));
  CHECK(marked.marks == MarkTokens{{}, {7, 11}, {}});
  CHECK(marked.other_marks ==
        std::vector<std::string>{"eos_token_id[1] \"</s>\"", "eos_token_id[2] 11"});
  const ModelConfig own = read_config(config_json(written_sizes, {{"tokens", "character"}}));
  CHECK(own.own["tokens"].string() == "character");
  CHECK(own.own.path() == "fledge");
}

// configuration_starcoder2.py of transformers 4: Starcoder2Config.__init__.
TEST_CASE("model config: what a file of Starcoder2 does not say") {
  LanguageModelSizes sizes = written_sizes;
  sizes.hidden = 17;
  sizes.recipe.position = Position::rotary;
  CHECK(read_config(R"({"model_type":"starcoder2","vocab_size":11,"max_position_embeddings":6,)"
                    R"("hidden_size":8,"intermediate_size":17,"num_hidden_layers":2,)"
                    R"("num_attention_heads":2,"num_key_value_heads":2})")
            .sizes == sizes);
}

// configuration_llama.py of transformers 4: LlamaConfig.__init__; of transformers 5: rope_parameters.
TEST_CASE("model config: what a file of Llama does not say") {
  LanguageModelSizes sizes = written_sizes;
  sizes.hidden = 17;
  sizes.bias = Bias::without;
  sizes.epsilon = 1e-6;
  sizes.recipe = llama();
  sizes.recipe.head = OutputHead::own;
  const std::string text =
      R"({"model_type":"llama","vocab_size":11,"max_position_embeddings":6,"hidden_size":8,)"
      R"("intermediate_size":17,"num_hidden_layers":2,"num_attention_heads":2)";
  CHECK(read_config(text + "}").sizes == sizes);
  sizes.recipe.rotary_base = 500;
  CHECK(read_config(text + R"(,"rope_theta":500})").sizes == sizes);
  CHECK(
      read_config(text + R"(,"rope_parameters":{"rope_theta":500,"rope_type":"default"}})").sizes ==
      sizes);
  CHECK(read_config(text + R"(,"rope_theta":7,"rope_parameters":{"rope_theta":500}})").sizes ==
        sizes);
}

TEST_CASE("model config: GPT-2's own file, and what else says the same") {
  const ModelConfig config = read_config(read_file(config_files + "gpt2_config.json"));
  LanguageModelSizes gpt2{.vocabulary = 50257, .context = 1024, .layers = 12, .heads = 12};
  gpt2.width = 768, gpt2.dropout = 0.1;
  CHECK(config.sizes == gpt2);
  CHECK(parameter_count(config.sizes) == 124'439'808);  // as it is known for
  CHECK_FALSE(config.says_bias);
  for (const auto& [name, form] : {std::pair{"gelu_new", FeedForward::gelu_tanh},
                                   {"gelu_pytorch_tanh", FeedForward::gelu_tanh},
                                   {"gelu_fast", FeedForward::gelu_tanh},
                                   {"gelu", FeedForward::gelu},
                                   {"gelu_python", FeedForward::gelu}})
    CHECK(read_config(with_key("activation_function", "\"" + std::string(name) + "\""))
              .sizes.recipe.mlp == form);
  for (const auto& [key, dropout] :
       {std::pair{"embd_pdrop", 0.0}, {"resid_pdrop", 0.25}, {"attn_pdrop", 0.0}})
    CHECK(read_config(with_key(key, "0.25")).sizes.dropout == dropout);
  CHECK(read_config(with_key("bias", "false")).sizes.bias == Bias::without);
  CHECK(read_config(with_key("scale_attn_weights", "false")).sizes.recipe.scale == Scale::none);
  CHECK(read_config(with_key("afn", "1")).unknown_keys == std::vector<std::string>{"afn"});
  const auto unknown = check_config_keys(
      read_json(R"({"n_layer": 2, "n_layers": 2, "n_ctx": 1, "transformers.js_config": {}})"));
  CHECK(unknown == std::vector<std::string>{"n_layers", "transformers.js_config"});
  // attribute_map of GPT2Config in transformers 4: the names that other models give the sizes.
  const ModelConfig renamed = read_config(
      R"({"vocab_size":11,"max_position_embeddings":6,"hidden_size":8,"num_hidden_layers":2,)"
      R"("num_attention_heads":2})");
  CHECK(renamed.sizes == written_sizes);
}

// transformers 4, src/transformers/models/gpt2/configuration_gpt2.py: written_config.json says all
// arguments of GPT2Config.__init__ whose defaults would mean another model. modeling_auto.py finds
// the class by model_type; "architectures" names it for other tools; lm_head.weight is not stored
// (_tied_weights_keys).
TEST_CASE("model config: what fledge writes says all that differs from GPT2Config's defaults") {
  CHECK(config_json(written_sizes, {}, mark_notes({3, {3}, {}})) ==
        read_file(config_files + "written_config.json"));
  CHECK(read_json(generation_config_json({{}, {7, 2}, 0})).shown() ==
        read_json("{\n  \"bos_token_id\": null,\n  \"eos_token_id\": [\n    7,\n    2\n  ],\n  "
                  "\"pad_token_id\": 0\n}")
            .shown());
}

// modeling_gpt2.py: the parameters of GPT2LMHeadModel, with Conv1D's (in, out) weights. from_pretrained
// adds the prefix "transformer." to names without it (base_model_prefix), and initialises what is
// missing anew: so every one of them must be stored, the biases too.
TEST_CASE("model config: the stored tensors are those that GPT2LMHeadModel loads, and counted") {
  std::vector<std::string> expected = listing(new_model(written_sizes));
  std::sort(expected.begin(), expected.end());
  for (const Recipe& recipe : all_recipes()) {
    LanguageModelSizes sizes = written_sizes;
    sizes.recipe = recipe;
    CHECK(parameter_count(sizes) == static_cast<double>(count_parameters(new_model(sizes))));
  }
  for (const Bias bias : {Bias::with, Bias::without})
    for (const Dim hidden : {0, 5}) {
      LanguageModelSizes sizes = written_sizes;
      sizes.bias = bias;
      sizes.hidden = hidden;
      if (hidden > 0) sizes.recipe.key_heads = 1, sizes.recipe.sink = Sink::learned;
      const LanguageModel model = new_model(sizes);
      CHECK(parameter_count(sizes) == static_cast<double>(count_parameters(model)));
      const std::string bytes = stored_bytes(named_weights(model), {{"format", "pt"}});
      // modeling_utils.py refuses a safetensors file whose metadata has no "format": "pt".
      const StoredHeader header = stored_header(bytes);
      CHECK(header.text("format") == "pt");
      std::vector<std::string> stored;
      for (const StoredTensor& tensor : header.tensors)
        stored.push_back(tensor.name + " " + to_string(tensor.shape));
      std::sort(stored.begin(), stored.end());
      if (hidden == 0) CHECK(stored == expected);
    }
}

TEST_CASE("model config: tied queries and keys, a head of its own and dropout come back") {
  for (const bool is_llama : {false, true}) {
    LanguageModelSizes sizes{
        .vocabulary = 10, .context = 4, .layers = 1, .heads = 2, .width = 8, .dropout = 0.25};
    if (is_llama) sizes.recipe = llama(), sizes.bias = Bias::without;
    sizes.recipe.tie_qk = true;
    CHECK(read_config(config_json(sizes, {}, {})).sizes.recipe.tie_qk);
    if (is_llama) continue;
    const JsonValue json = read_json(config_json(sizes, {}, {}));
    CHECK(json["embd_pdrop"].number() == 0.25);
    sizes.recipe.head = OutputHead::own;
    CHECK_FALSE(read_json(config_json(sizes, {}, {})).has("tie_word_embeddings"));
  }
}
