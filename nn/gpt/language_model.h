// The language model, in the shape of GPT-2: from token numbers to scores for the next token.
#pragma once

#include "nn/gpt/recipe.h"

namespace fledge {

/// Whose class in Hugging Face's transformers computes a model, with some weights: GPT2LMHeadModel,
/// LlamaForCausalLM, Starcoder2ForCausalLM (of Lozhkov et al. 2024), or none of these.
enum class Family { none, gpt2, llama, starcoder2 };

/// The sizes of a language model; all at least 1, width a multiple of heads.
struct LanguageModelSizes {
  Dim vocabulary;
  Dim context;  // the most tokens it can read at once
  Dim layers = 1;
  Dim heads = 1;
  Dim width = 16;  // C
  Dim hidden = 0;  // of the MLP; 0: see hidden_width()
  double dropout = 0;
  Bias bias = Bias::with;
  double epsilon = 1e-5;  // of the layer norms
  Recipe recipe = {};

  HeadCount head_count() const {
    return recipe.key_heads != 0 ? HeadCount(heads, recipe.key_heads) : HeadCount(heads);
  }
  /// The hidden size of the MLP: without one, 4·width as in GPT-2; with SwiGLU, which has three
  /// matrices in place of two, 8/3·width, rounded up to a multiple of 8 (Shazeer 2020).
  Dim hidden_width() const {
    if (hidden > 0) return hidden;
    return recipe.mlp == FeedForward::swiglu ? (8 * width + 23) / 24 * 8 : 4 * width;
  }
  /// Llama has RMS norms, SwiGLU and no biases. Starcoder2 is GPT-2 with rotary positions, and may
  /// have a window.
  Family family() const {
    if (recipe.is_gpt2()) return Family::gpt2;
    const bool is_llama = recipe.norm == Norm::rms;
    Recipe same = is_llama ? llama() : Recipe{.position = Position::rotary};
    if (!is_llama) same.window = recipe.window;
    if (!is_llama && (recipe.mlp == FeedForward::gelu || recipe.mlp == FeedForward::none))
      same.mlp = recipe.mlp;
    same.values = recipe.values, same.heads = recipe.heads;  // none: weights of 0, or an identity
    same.key_heads = recipe.key_heads, same.rotary_base = recipe.rotary_base;
    same.head = recipe.head, same.learned = recipe.learned, same.tie_qk = recipe.tie_qk;
    if (recipe != same || (is_llama && bias == Bias::with)) return Family::none;
    return is_llama ? Family::llama : Family::starcoder2;
  }
  bool operator==(const LanguageModelSizes&) const = default;
};

/// Throws ValueError unless 0 ≤ token < vocabulary.
inline void require_token(const char* op, Dim token, Dim vocabulary) {
  require<ValueError>(token >= 0 && token < vocabulary, op, "token ", token,
                      " is outside a vocabulary of ", vocabulary);
}

/// ids (B, T), T ≤ context  ->  logits (B, T, V): at each position, a score for every next token.
/// Or documents one after another, of n tokens together: ids (n)  ->  logits (n, V).
///
///   x = wte[ids] + wpe[0 … T−1];   x = block(x) for each block, causal;   logits = ln_f(x)·wteᵀ
///
/// sizes.recipe changes this formula and the initial weights. With rotary positions there is no wpe.
///
/// The output projection is the word table itself (Press & Wolf 2017), or with OutputHead::own another
/// table, lm_head. Names: GPT-2's.
struct LanguageModel {
  LanguageModelSizes sizes;
  Embedding wte, wpe;
  Dropout dropout;
  std::vector<Block> h;
  LayerNorm ln_f;
  Embedding lm_head;  // only with OutputHead::own

  /// With InitialWeights::none() the weights must then be loaded (weights.h). Throws ValueError for
  /// sizes that make no model: below 1, heads that do not divide the width, a recipe whose parts
  /// exclude each other.
  LanguageModel(const LanguageModelSizes& model_sizes, InitialWeights initial);

  /// lengths: of the documents, for ids (n) (Batch). None sees another, and the positions of each
  /// begin at 0. Throws ShapeError unless ids are (B, T ≤ context), or (n) with lengths up to the
  /// context that make n together; ValueError for ids outside 0 … V − 1 and for a negative length.
  Tensor operator()(const Indices& ids, Mode mode = Mode::evaluation(),
                    const std::vector<Dim>& lengths = {}) const;

  struct LogitsAndWeights {
    Tensor logits;
    std::vector<Tensor> weights;  // of each layer: (B, H, T, T)
  };
  /// The same, and the attention weights of each layer.
  LogitsAndWeights forward_with_weights(const Indices& ids, Mode mode = Mode::evaluation()) const;

  /// The first line of the formula: ids (…, T) at the positions first, first + 1, …  ->  (…, T, C).
  Tensor embed(const Indices& ids, Dim first = 0) const;
  /// Which positions each position sees: of its document those before it and itself, or all; of
  /// them the recipe's window.
  Mask mask(const std::vector<Dim>& lengths = {}) const;

  /// The last line of the formula: the output of the last block, x (…, C)  ->  logits (…, V).
  Tensor logits(const Tensor& x) const;

  void visit(auto&& f) const {
    f("wte", wte), f("wpe", wpe), f("h", h), f("ln_f", ln_f), f("lm_head", lm_head);
  }

 private:
  // (B, T, C) or (n, C)
  Tensor first_input(const Indices& ids, const std::vector<Dim>& lengths, Mode mode) const;
};

}  // namespace fledge
