// Ablation: how a prediction changes when one of the tokens before it is hidden.
//
// A hidden token is masked for all later positions but stays in its place, so the others keep their
// positions. An attention weight shows where a head looks; ablation shows whether this matters
// (Jain & Wallace 2019).
#pragma once

#include <vector>

#include "nn/gpt/language_model.h"

namespace fledge {

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
