// Probes: whether a model looks ahead, and what it has learned about two words.
//
// Not here: training. Key idea: the first asks for equal bits, not for small differences; the
// second comes with a control, as any two frequent words grow alike a little.   Next: probes.cpp.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "nn/gpt/language_model.h"

namespace fledge {

/// What was found when everything behind a place was changed.
struct CausalityReport {
  Dim cuts = 0;        // places after which everything was changed, each twice: other tokens, NaN
  Dim compared = 0;    // logits that had to keep their bits
  bool peeks = false;  // a logit in front of a cut changed: a breach
  bool kept =
      false;  // none did, and the changes were seen behind every cut: so the check could fail
  std::string text;  // what was checked, where the model looks ahead, or why nothing could be shown
};

/// Logits (T, V) of T tokens, with NaN in the vectors of all positions from `nan_from` on, where
/// that is below T. Same tokens, same bits.
using Reads = std::function<Array(const std::vector<Dim>& ids, Dim nan_from)>;

/// For at most `most_cuts` places t, evenly from the first to the last but one: every token behind
/// t becomes another one, then every position behind t NaN. The logits of places ≤ t must keep
/// their bits; with NaN, those of t + 1 must be NaN.
/// Throws ValueError for fewer than two tokens or a vocabulary of one: nothing could be changed.
CausalityReport check_causality(const Reads& reads, const std::vector<Dim>& ids, Dim vocabulary,
                                Dim most_cuts = 16);
/// Of a model, evaluating. ids: at most `context` tokens. Its parameters are not touched.
CausalityReport check_causality(const LanguageModel& model, const std::vector<Dim>& ids,
                                Dim most_cuts = 16);

/// What the first layer's attention sees: queries of ids (B, T) and the same places as keys.
struct FirstLook {
  Tensor weights;  // (B, H, T, T)
  Tensor passed;   // (B, T, C): Σ_j weight_j·v_j of each head, side by side, before c_proj
  Tensor values;   // (B, T, C): v_j

  /// The weight that place `from` gives to place `to`, mean of the heads.
  double attention(Dim batch, Dim from, Dim to) const;
  /// How much what is passed to `from` is like `to`: their cosine.
  double association(Dim batch, Dim from, Dim to) const;
};
FirstLook first_look(const LanguageModel& model, const Indices& ids);

/// Token a and tokens b that stand in front of it, in the same window of `context` tokens.
struct WatchedPair {
  Dim pairs = 0;         // of such places; 0: all but similarity are 0
  double attention = 0;  // mean weight that a gives b, of all layers and heads
  double chance = 0;     // what it would be if a looked everywhere alike: mean of 1/(i + 1)
  double most = 0;       // attention of the head that has the largest, and which one that is
  Dim layer = 0, head = 0;
  double association = 0;  // mean FirstLook::association
  double similarity = 0;   // cosine of the rows of the embedding
};

/// The text cut into windows of `context` tokens; the first `most_windows` of them that have such a
/// pair are read. Throws ValueError for tokens outside 0 … V − 1.
WatchedPair watch_pair(const LanguageModel& model, const std::vector<Dim>& text, Dim a, Dim b,
                       Dim most_windows = 64);

/// The token that stands in the text about as often as b: the nearest count, neither a nor b; of
/// equals the smaller number. a with it is the control of a with b. Throws ValueError when there is
/// no third.
Dim control_of(const std::vector<Dim>& text, Dim vocabulary, Dim a, Dim b);

}  // namespace fledge
