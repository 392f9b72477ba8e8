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
    for (const std::string name : {"/vocab.json", "/merges.txt"})
      std::filesystem::copy_file(FLEDGE_SOURCE_DIR "/tests/command/texts/gpt2" + name,
                                 folder() + name);
  }
};

}  // namespace testing
