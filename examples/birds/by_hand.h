// Part 1: the worked example, computed by the engine: three words, three vectors, and attention
// weights set by hand.
#pragma once

#include <array>

#include "engine/ops.h"

namespace fledge::birds {

/// The vectors of the words, one in each row: birds, sometimes, walk.
Array word_vectors();

/// Attention weights set by hand. Row 3 has the weights that walk gives to birds, sometimes and
/// itself.
Array hand_set_attention();

struct ByHand {
  double before = 0;              // v₃·v₁: walk and birds before attention
  std::array<double, 3> v_hat{};  // row 3 of A·V: walk after attention
  double association = 0;         // v̂₃·v₁: walk and birds after attention
  double row_sum = 0;             // of row 3 of A: 1.1, which no softmax can give
  double normalised = 0;          // v̂₃·v₁ with that row divided by its sum
  double as_labelled = 0;         // v̂₃·v₃: the product that the label of the last one names
};

ByHand compute_by_hand();

}  // namespace fledge::birds
