// The least loss that a text allows: the part of the next token that no earlier token decides.
//
// Key idea: where the same beginning goes on in different ways, even a perfect model has to guess.
#pragma once

#include "nn/text/corpus.h"

namespace fledge {

/// The least mean loss in nats that any causal model can have over the documents of this text. It
/// is the entropy of the next token, given all tokens of its document before it:
///
///   least = −1/N·Σ ln(count(beginning, next) / count(beginning))
///
/// The sum runs over the N tokens that mean_loss() predicts: all tokens of each document, and the
/// boundary after it. A beginning is the boundary before a document and the tokens up to the
/// predicted one. Its count is the number of documents that begin so. Throws ValueError for a text
/// without documents: a stream has only one beginning.
double least_loss(const TokenText& text);

}  // namespace fledge
