// Interventions: how a prediction changes when a token before it is hidden, or when a row of
// attention weights is another.
//
// An attention weight shows where a head looks; an intervention shows whether this matters (Jain &
// Wallace 2019; Geiger et al. 2021, "Causal abstractions of neural networks").
#pragma once

#include <optional>
#include <vector>

#include "nn/gpt/language_model.h"

namespace fledge {

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

/// The weights of one query, in one head or in all heads of a layer.
struct ForcedRow {
  Dim layer = 0;
  std::optional<Dim> head;      // none: all heads of the layer
  Dim query = 0;                // a position
  std::vector<double> weights;  // on the keys 0 … query; they sum to 1
};

/// The logits (T, V) of the model for T tokens, computed with this row in place of its own. All
/// later positions and layers follow from it. Records no gradient. Throws ValueError for ids
/// outside the vocabulary and more than `context` of them, a model without a mask, a layer, head or
/// query that does not exist, and weights that are not one for each key, are negative or do not sum
/// to 1 within 1e-6.
Array logits_with_row(const LanguageModel& model, const std::vector<Dim>& ids,
                      const ForcedRow& row);

}  // namespace fledge
