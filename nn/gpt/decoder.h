// The decoder reads a text token by token and computes only what is new.
//
// Later tokens do not change the keys and values of earlier ones. So the keys and values of each
// layer are computed once and kept. Without a mask they do: then all tokens are read again.
#pragma once

#include <vector>

#include "nn/gpt/language_model.h"

namespace fledge {

/// Logits (…, V) in which these tokens have −∞: they are never drawn, and the others share their
/// probability. Throws ValueError for a token outside 0 … V − 1.
Array without_tokens(const Array& logits, const std::vector<Dim>& never_drawn);

/// Reads tokens in order, any number per call.
///
/// A model sees at most `context` tokens. When a token comes and the window is full, the window is
/// shortened to the last context/2 tokens (at least one), including the new one. They are read
/// again into an empty cache, because each token was read at its old position. So
/// one step in context/2 costs as much as reading context/2 tokens. The logits do not depend on how
/// a text is divided into calls.
class Decoder {
 public:
  /// Shares the parameters of the model. If the model learns, make a new decoder. All logits are
  /// without_tokens(never_drawn). Throws ValueError if one of these is outside 0 … V − 1.
  explicit Decoder(const LanguageModel& model, std::vector<Dim> never_drawn = {});

  /// Reads more tokens. Returns the logits (V) after the last one, with the same bits as the last
  /// row of model(window()), but for the tokens that are never drawn. Throws ValueError for an
  /// empty list and for tokens outside 0 … V − 1. After any exception, including bad_alloc, none of
  /// the tokens is read.
  Array read(const std::vector<Dim>& ids);

  /// The tokens that the last logits depend on, and their number: 1 … context, or 0 before the
  /// first read().
  const std::vector<Dim>& window() const { return window_; }
  Dim length() const { return static_cast<Dim>(window_.size()); }
  /// Whether no token sees the tokens after it.
  bool is_causal() const { return model_.sizes.recipe.mask == Masking::causal; }
  /// Each position sees at most this many; 0: no limit (Recipe::window).
  Dim most_seen() const { return model_.sizes.recipe.window; }

  /// The attention weights (H, R, T) of each layer over window(). Row i has the weights of the
  /// query at position T − R + i. R is `rows`, at most T; 0 means all T. The weights are computed
  /// again, with the same bits (without a mask step by step, so they differ by rounding). Throws
  /// ValueError for negative rows and before the first read().
  std::vector<Array> attention(Dim rows = 0) const;

 private:
  Array last_logits(const std::vector<Dim>& window, std::vector<KeyValueCache>& caches) const;

  LanguageModel model_;
  std::vector<Dim> never_drawn_;
  std::vector<KeyValueCache> caches_;  // one per layer; empty without a mask
  std::vector<Dim> window_;
};

}  // namespace fledge
