// The decoder: a language model that reads a text bit by bit and computes only what is new.
//
// Not here: which token to take next (train/sampler.h). Key idea: no later token changes what an
// earlier one computed, so the keys and values of each layer are kept as they were made.
//                                                                                Next: decoder.cpp.
#pragma once

#include <vector>

#include "nn/gpt/language_model.h"

namespace fledge {

/// Reads tokens one behind the other, as many at a time as the caller likes.
///
/// A model sees `context` tokens. When a token comes and the context is full, the window moves on:
/// the last context/2 tokens (at least one), the new one included, are read again into an empty
/// cache. They cannot be shifted instead: each was read with the vector of its position. So a step
/// in context/2 costs as much as reading context/2 tokens, and how a text was cut into calls
/// changes no bit.
class Decoder {
 public:
  /// Shares the parameters of the model, which must not learn while this reads: restart()
  /// afterwards.
  explicit Decoder(const LanguageModel& model);

  /// Reads more tokens; returns the logits (V) behind the last one: to the bit the last row of
  /// model(window()). Throws ValueError for no token, and for one outside 0 … V − 1. After any
  /// exception, bad_alloc included, it has read none of them.
  Array read(const std::vector<Dim>& ids);

  /// The tokens that the last logits depend on, and how many they are: 1 … context, 0 before the
  /// first.
  const std::vector<Dim>& window() const { return window_; }
  Dim length() const { return static_cast<Dim>(window_.size()); }

  /// Of each layer, the attention weights of the pass over window(): (H, R, T), where row i has the
  /// weights that the place T − R + i used when it was read, to the bit. R is `rows`, at most T; 0
  /// means all T. The weights are computed anew, and their cost grows with R. Throws ValueError for
  /// negative rows, and before the first token.
  std::vector<Array> attention(Dim rows = 0) const;

 private:
  Array logits_of(const std::vector<Dim>& window, std::vector<KeyValueCache>& caches) const;

  LanguageModel model_;
  std::vector<KeyValueCache> caches_;  // of each layer, of the first tokens of the window
  std::vector<Dim> window_;
};

}  // namespace fledge
