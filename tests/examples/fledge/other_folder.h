// A small model in a folder as Hugging Face's libraries save it.
#pragma once

#include "nn/gpt/config.h"
#include "nn/gpt/weights.h"
#include "tests/examples/fledge/models.h"
#include "tests/nn/modules.h"

namespace testing {

inline constexpr fledge::LanguageModelSizes other_sizes{
    .vocabulary = 265, .context = 12, .layers = 2, .heads = 2, .width = 8};

inline fledge::LanguageModel other_model() {
  fledge::Rng rng(1);
  const fledge::LanguageModel model(other_sizes, rng);
  tests::redraw(model, 1);
  return model;
}

inline const std::string gpt2_config =
    R"({"model_type": "gpt2", "vocab_size": 265, "n_positions": 12,
  "n_ctx": 12, "n_embd": 8, "n_layer": 2, "n_head": 2, "n_inner": null, "resid_pdrop": 0.1,
  "embd_pdrop": 0.1, "attn_pdrop": 0.1, "activation_function": "gelu_new",
  "layer_norm_epsilon": 1e-05, "bos_token_id": 264, "eos_token_id": 264})";

/// The model as GPT2LMHeadModel.save_pretrained() writes it: with a prefix, without its head.
struct OtherFolder : Desk {
  OtherFolder() {
    std::vector<fledge::NamedArray> arrays = fledge::named_weights(other_model());
    for (fledge::NamedArray& array : arrays) array.name.insert(0, "transformer.");
    std::filesystem::create_directory(folder());
    write_text(folder() + "/model.safetensors", fledge::stored_bytes(arrays, {{"format", "pt"}}));
    write_text(folder() + "/config.json", gpt2_config);
  }
  std::string folder() const { return *this / "gpt2"; }

  /// vocab.json and merges.txt of GPT-2's form: 256 bytes, eight merges, "<|endoftext|>".
  void add_tokenizer() const {
    const std::vector<std::pair<std::string, std::string>> merges{
        {"b", "i"},      {"r", "d"}, {"bi", "rd"},      {"bird", "s"},
        {"\u0120", "w"}, {"a", "l"}, {"\u0120w", "al"}, {"\u0120wal", "k"}};
    std::string vocabulary = "{", lines = "#version: 0.2\n";
    int id = 0;
    const auto add = [&](const std::string& symbol) {
      vocabulary += (id > 0 ? ", \"" : "\"") + symbol + "\": " + std::to_string(id);
      ++id;
    };
    for (const auto& [first, last] : {std::pair{33, 126}, {161, 172}, {174, 255}})
      for (int byte = first; byte <= last; ++byte) {
        char escape[8];
        std::snprintf(escape, sizeof escape, "\\u%04x", byte);
        add(escape);
      }
    for (int other = 0; other < 68; ++other) {
      char escape[8];
      std::snprintf(escape, sizeof escape, "\\u%04x", 256 + other);
      add(escape);
    }
    for (const auto& [a, b] : merges) {
      add(a + b);
      lines += a + " " + b + "\n";
    }
    add("<|endoftext|>");
    write_text(folder() + "/vocab.json", vocabulary + "}");
    write_text(folder() + "/merges.txt", lines);
  }
};

}  // namespace testing
