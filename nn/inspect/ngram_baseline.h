// The loss of a table that counts n-grams, as a baseline: a trained model should be below it.
#pragma once

#include "nn/text/corpus.h"

namespace fledge {

/// The mean loss in nats over the tokens of `test`. The table counts which token follows each
/// history of `history` tokens in `train`, and `add` is added to each count
/// (Laplace; Lidstone 1920):
///
///   p(t | h) = (count(h, t) + add) / (count(h) + add·V)
///
/// Stream: `test` follows `train`, so its first tokens have a history too. A token without a full
/// history is predicted with p = 1/V. Lines: each document is counted separately. Its history
/// begins with boundaries, as many as needed. Every token of a document and the boundary after it
/// are predicted. V is the size of the vocabulary, including the boundary. Throws ValueError for a
/// test without tokens, tokens outside 0 … V − 1, an `add` that is not positive, a history outside
/// 0 … 8, and a stream together with lines.
double ngram_loss(const TokenText& train, const TokenText& test, Dim vocabulary, int history,
                  double add);

}  // namespace fledge
