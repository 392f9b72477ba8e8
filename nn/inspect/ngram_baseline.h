// Counting: what a table of the last letters or words predicts. Every trained model is to be
// compared with it: one that does not beat counting has learned less than a table holds.
//
// Not here: smoothing beyond "a little more of each". Next: verbatim_overlap.h.
#pragma once

#include "nn/text/corpus.h"

namespace fledge {

/// The mean loss in nats, over the tokens of `test`, of a table that counts which token follows
/// each history of `history` tokens in `train`, with `add` more of each (Laplace; Lidstone 1920):
///
///   p(t | h) = (count(h, t) + add) / (count(h) + add·V)
///
/// A stream: `test` is what follows `train`, so its first tokens have a history too; where there is
/// none, the table guesses, p = 1/V. Lines: documents are counted each by itself; before its first
/// token the boundary stands as often as a history needs; every token of a document is predicted,
/// and the boundary behind it. V is the vocabulary, all symbols with the boundary.
/// Throws ValueError for a test without tokens, tokens outside 0 … V − 1, an `add` that is not
/// positive, a history outside 0 … 8, and a stream beside lines.
double ngram_loss(const TokenText& train, const TokenText& test, Dim vocabulary, int history,
                  double add);

}  // namespace fledge
