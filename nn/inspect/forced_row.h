// What the model would predict if one row of attention weights were other than it is.
//
// This is an intervention: it shows whether the model uses where a head looks (Geiger et al. 2021,
// "Causal abstractions of neural networks").
#pragma once

#include <optional>
#include <vector>

#include "nn/gpt/language_model.h"

namespace fledge {

/// The weights of one query, in one head or in all heads of a layer.
struct ForcedRow {
  Dim layer = 0;
  std::optional<Dim> head;      // none: all heads of the layer
  Dim query = 0;                // a position
  std::vector<double> weights;  // on the keys 0 … query; they sum to 1
};

/// The logits (T, V) of the model for T tokens, computed with this row in place of its own. All
/// later positions and layers follow from it. Records no gradient. Throws ValueError for ids outside
/// the vocabulary, a model without a mask, more than `context` of them, a layer, head or query that does not exist, and
/// weights that are not one for each key, are negative or do not sum to 1 within 1e-6.
Array logits_with_row(const LanguageModel& model, const std::vector<Dim>& ids,
                      const ForcedRow& row);

}  // namespace fledge
