// Leaving out: what a guess would be without one of the tokens it rests on.
//
// Not here: where attention looked (LanguageModel::look). Key idea: a token is hidden from all
// places behind it, not taken away, so that the others keep their positions and nothing else
// changes. A weight says where a head looked, this says what it was good for (Jain & Wallace 2019).
//                                                                            Next: ablate_tokens.cpp.
#pragma once

#include <vector>

#include "nn/gpt/language_model.h"

namespace fledge {

/// A guess, and what it would be without each token.
struct Ablation {
  double log_p = 0;             // ln p(token | ids), p = softmax of the logits behind ids
  std::vector<double> without;  // the same with place j hidden, j = 0 … T − 2
};

/// ids: T tokens, 1 … context. Place j is hidden in all layers from the places j + 1 … T − 1; by
/// itself it is read as before, which changes nothing, as nobody looks. The last place cannot be
/// left out: the guess is made there. T passes over ids, recording nothing. Throws ValueError for
/// fewer or more ids, and for tokens outside 0 … V − 1.
Ablation ablate_tokens(const LanguageModel& model, const std::vector<Dim>& ids, Dim token);

}  // namespace fledge
