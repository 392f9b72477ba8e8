// The sampler: from scores for the next token to a token, and from a prompt to a text.
//
// Not here: computing the scores (models/decoder.h), bytes and where to stop in them
// (text/stop_at.h). Key idea: all in double and in one order, so that a seed gives one text.
// Next: sampler.cpp.
#pragma once

#include <functional>
#include <vector>

#include "nn/gpt/decoder.h"

namespace fledge {

/// How boldly to choose. Checked where it is used: ValueError for a temperature that is negative,
/// NaN or infinite, top_k < 0, and top_p outside (0, 1].
struct SampleOptions {
  double temperature = 0.8;  // 0: always the likeliest token
  Dim top_k = 0;             // among so many of the likeliest; 0: among all
  double top_p = 1;          // among the fewest of them that have this part of the probability
};

struct Choice {
  Dim token;
  double probability;
};

/// The tokens that may be drawn, likeliest first (of equals the smaller number), with probabilities
/// that sum to 1, none of them 0.                                                   logits (V)
///
///   1. temperature T:  w_i = exp((z_i − max z) / T); tokens in order of z; T = 0 keeps the first
///   2. top_k:          the first k stay                                        (Fan et al. 2018)
///   3. top_p:          of these the shortest beginning with Σ w ≥ top_p·(Σ w of these) stays,
///                      at least one                                      (Holtzman et al. 2020)
///   4. p_i = w_i / Σ w of those that stay; sums run from the likeliest on
///
/// Throws NumericError for a NaN or +∞ among the logits, and when all are −∞: such a token is
/// impossible.
std::vector<Choice> choices(const Array& logits, const SampleOptions& options);

/// The n likeliest tokens (fewer if there are not so many) and their probabilities softmax(logits).
std::vector<Choice> most_likely(const Array& logits, Dim n);

/// One of choices(), by one number of the generator; none at temperature 0.
Dim sample(const Array& logits, const SampleOptions& options, Rng& rng);

/// Is handed a token and the logits (V) that it was drawn from; says whether to go on.
using Take = std::function<bool(Dim token, const Array& logits)>;

/// Reads the prompt, then draws tokens and reads them in turn: `count` at most, each handed to
/// `take` as soon as it is drawn, until take returns false. Returns how many were drawn. The last
/// one is not read: the decoder's window is then what its logits came from, as it is within take.
/// Throws as the functions above; ValueError for an empty prompt or a negative count.
Dim generate(Decoder& decoder, const std::vector<Dim>& prompt, Dim count,
             const SampleOptions& options, Rng& rng, const Take& take);

}  // namespace fledge
