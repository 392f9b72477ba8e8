// Counting: what a table of the last letters or words predicts. Every trained model is to be compared
// with it, as a model that does not beat counting has learned less than a table holds.
#pragma once

#include <vector>

#include "engine/real.h"

namespace fledge::inline FLEDGE_BUILD {

/// The mean loss in nats, over the tokens of `test`, of a table that counts which token follows each
/// history of `history` tokens in `train`, with `add` more of each (Laplace; Lidstone 1920):
///
///   p(t | h) = (count(h, t) + add) / (count(h) + add·V)
///
/// The history of the first tokens of `test` is the end of `train`: the texts are neighbours. Throws ValueError for an empty test, tokens outside 0 … V − 1,
/// an `add` that is not positive, or a history over 8.
double counted_loss(const std::vector<Dim>& train, const std::vector<Dim>& test, Dim vocabulary,
                    int history, double add);

}  // namespace fledge::inline FLEDGE_BUILD
