// Probes of a model: whether a logit depends on later tokens, what the model has learned about two
// tokens, and how a prediction changes when a token before it is hidden.
//
// An attention weight shows where a head looks; such an intervention shows whether this matters
// (Jain & Wallace 2019; Geiger et al. 2021, "Causal abstractions of neural networks").
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "nn/gpt/language_model.h"
#include "nn/text/corpus.h"

namespace fledge {

/// The result of changing everything after a position (a cut).
struct CausalityReport {
  bool looks_ahead = false;  // a logit before a cut changed: it depends on later tokens
  bool is_causal = false;    // no logit before a cut changed; all changes reached the later logits
  Dim compared = 0;          // the number of logits before the cuts
  /// Which position depends on later tokens, or why nothing could be shown; "" if the model is
  /// causal.
  std::string text;
};

/// Computes the logits (T, V) of T tokens. The same tokens must give the same bits.
using Reads = std::function<Array(const std::vector<Dim>& ids)>;

/// Cuts after at most `most_cuts` positions t, evenly spaced. At each cut, every token after t is
/// replaced by another one. The logits of positions ≤ t must keep their bits, and a later logit
/// must change. Throws ValueError for fewer than two tokens or a vocabulary of one, because nothing
/// could be changed.
CausalityReport check_causality(const Reads& reads, const std::vector<Dim>& ids, Dim vocabulary,
                                Dim most_cuts = 16);
/// Checks a model in evaluation mode. ids: at most `context` tokens. No parameter is changed.
CausalityReport check_causality(const LanguageModel& model, const std::vector<Dim>& ids,
                                Dim most_cuts = 16);

/// The attention of the first layer for ids (B, T).
struct FirstLook {
  Tensor weights;  // (B, H, T, T)
  Tensor passed;   // (B, T, C): Σ_j weight_j·v_j of each head, side by side, before c_proj
  Tensor values;   // (B, T, C): v_j

  /// The attention weight of position `to` for the query at `from`, averaged over the heads.
  double attention(Dim batch, Dim from, Dim to) const;
  /// The cosine of the attention output at `from` and the value at `to`.
  double association(Dim batch, Dim from, Dim to) const;
};
FirstLook first_look(const LanguageModel& model, const Indices& ids);

/// All pairs of a token a and a token b before it in the same window.
struct WatchedPair {
  Dim pairs = 0;           // how many; if 0, only `similarity` is computed
  double attention = 0;    // the mean attention weight from a to b over all layers and heads
  double chance = 0;       // the weight if all were equal: 1/(i + 1), in a window of W at least 1/W
  double association = 0;  // mean FirstLook::association
  double similarity = 0;   // cosine of the two rows of the embedding
};

/// Reads the first `most_windows` of evaluation_windows() that have such a pair. So a window of a
/// text with documents begins with the boundary before a document and never goes over its end; a
/// longer document has several windows. Throws ValueError for tokens outside 0 … V − 1.
WatchedPair watch_pair(const LanguageModel& model, const TokenText& text, Dim a, Dim b,
                       Dim most_windows = 64);

/// A token c to compare b with: the pair of a and c is the control of the pair of a and b, as any
/// two frequent tokens become a little similar. c stands before an a beside b: in a window of
/// evaluation_windows() that has b before this a, too. It is not the boundary of documents. Its
/// count in the text is the nearest to the count of b; of two equally near, the smaller number.
/// If there is no such token, c is any third token. Throws ValueError if there is none.
Dim control_of(const TokenText& text, Dim vocabulary, Dim context, Dim a, Dim b);

/// A hidden token is masked for all later positions but stays in its place, so the others keep
/// their positions.
struct Ablation {
  double log_p = 0;             // ln p(token | ids), p = softmax of the logits after ids
  std::vector<double> without;  // the same with position j hidden, j = 0 … T − 2
};

/// How probable `token` is after `ids` (1 … context tokens), and how probable if one of them is
/// hidden. Position j is hidden in all layers from all other positions. The last position
/// cannot be hidden, because the prediction is made there. Makes T passes over ids and records
/// nothing. The tokens `never_drawn` have the probability 0, as in a Decoder. Throws ValueError for
/// fewer or more ids, and for tokens outside 0 … V − 1.
Ablation ablate_tokens(const LanguageModel& model, const std::vector<Dim>& ids, Dim token,
                       const std::vector<Dim>& never_drawn = {});

}  // namespace fledge
