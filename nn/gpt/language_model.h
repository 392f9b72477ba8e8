// The language model: from word ids to scores for the next word, in the shape of GPT-2.
//
// Not here: reading on from what was read before (decoder.h).
#pragma once

#include "nn/layers/block.h"
#include "nn/layers/embedding.h"

namespace fledge {

/// The sizes of a language model; all at least 1, width a multiple of heads.
struct LanguageModelSizes {
  Dim vocabulary;
  Dim context;  // the most words it can look at
  Dim layers = 1;
  Dim heads = 1;
  Dim width = 16;  // C
  Dim hidden = 0;  // of the MLP; 0 means 4·width, as in GPT-2
  double dropout = 0;
  Bias bias = Bias::with;
};

/// ids (B, T), T ≤ context  ->  logits (B, T, V): at each place, a score for every next word.
///
///   x = wte[ids] + wpe[0 … T−1];   x = block(x) for each block, causal;   logits = ln_f(x)·wteᵀ
///
/// The output projection is the word table itself (Press & Wolf 2017). Names: GPT-2's.
struct LanguageModel {
  LanguageModelSizes sizes;
  Embedding wte, wpe;
  Dropout dropout;
  std::vector<Block> h;
  LayerNorm ln_f;

  /// With InitialWeights::none() the weights are to be loaded (weights.h).
  LanguageModel(const LanguageModelSizes& model_sizes, InitialWeights initial);

  Tensor operator()(const Indices& ids, Mode mode = Mode::evaluation()) const;

  struct Looked {
    Tensor logits;
    std::vector<Tensor> weights;  // of each layer: (B, H, T, T)
  };
  /// The same, with where each layer looked.
  Looked look(const Indices& ids, Mode mode = Mode::evaluation()) const;

  /// The last line: what the last block made of each place, x (…, C)  ->  logits (…, V).
  Tensor logits(const Tensor& x) const;

  void visit(auto&& f) const {
    f("wte", wte);
    f("wpe", wpe);
    f("h", h);
    f("ln_f", ln_f);
  }

 private:
  Tensor read(const Indices& ids, Mode mode) const;  // (B, T, C)
};

}  // namespace fledge
