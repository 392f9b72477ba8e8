// Sampling: from logits to a token, and from a prompt to a text.
//
// All sums are in double and in a fixed order, so a seed always gives the same text.
#pragma once

#include <functional>
#include <vector>

#include "nn/gpt/decoder.h"

namespace fledge {

/// All functions with these options throw ValueError for a temperature that is negative, NaN or
/// infinite, for top_k < 0, and for top_p outside (0, 1].
struct SampleOptions {
  double temperature = 0.8;  // 0: always the most likely token
  Dim top_k = 0;             // keep this many of the most likely tokens; 0: all
  double top_p = 1;          // keep the fewest of them whose probabilities sum to this share
};

struct Choice {
  Dim token;
  double probability;
};

/// The tokens that can be drawn, the most likely first (of equals the smaller number), with
/// probabilities above 0 that sum to 1.                                                logits (V)
///
///   1. temperature T:  w_i = exp((z_i − max z) / T), largest first; T = 0 keeps the first
///   2. top_k:          keep the first k                                        (Fan et al. 2018)
///   3. top_p:          keep the fewest first ones with Σ w ≥ top_p·(Σ w after step 2),
///                      at least one                                      (Holtzman et al. 2020)
///   4. p_i = w_i / Σ w of the tokens that are kept; sums begin with the most likely
///
/// A logit of −∞ makes a token impossible. Throws NumericError if a logit is NaN or +∞, or if all
/// are −∞.
std::vector<Choice> choices(const Array& logits, const SampleOptions& options);

/// The n most likely tokens (all if there are fewer) and their probabilities softmax(logits).
std::vector<Choice> most_likely(const Array& logits, Dim n);

/// Draws one of choices() with one random number; at temperature 0 without one.
Dim sample(const Array& logits, const SampleOptions& options, Rng& rng);

/// Receives a token and the logits (V) that it was drawn from. Returns whether to continue.
using OnToken = std::function<bool(Dim token, const Array& logits)>;

/// Reads the prompt, then draws and reads tokens one by one, at most `count`. Calls `on_token` for
/// each token before it is read, and stops if on_token returns false. Returns how many tokens were
/// drawn. The last token is not read, so the decoder's window is the one that its logits came from.
/// Throws as the functions above; ValueError for an empty prompt or a negative count.
Dim generate(Decoder& decoder, const std::vector<Dim>& prompt, Dim count,
             const SampleOptions& options, Rng& rng, const OnToken& on_token);

}  // namespace fledge
