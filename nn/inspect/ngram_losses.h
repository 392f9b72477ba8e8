// What counting n-grams says of a text: the losses of tables, as a baseline (a trained model should
// be below them), the least loss of any model, and how much of a sample stands in the text.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "nn/text/corpus.h"

namespace fledge {

/// The mean loss in nats over the tokens of `test`, of tables with 0, 1, …, most_history tokens of
/// history: interpolated modified Kneser-Ney (Kneser & Ney 1995; Chen & Goodman 1999).
///
///   pₙ(t | h) = (c(h, t) − D(c(h, t)))/c(h) + γ(h)·qₙ₋₁(t | h without its first token)
///   γ(h) = Σ_t D(c(h, t))/c(h),   c(h) = Σ_t c(h, t),   q₋₁ = 1/V
///   D(c) = c − (c + 1)·n₁/(n₁ + 2n₂)·n_{c+1}/n_c for c = 1, 2, 3; D(c) = D(3) above, D(0) = 0
///
/// c counts n-grams of the training text; n_c of these occur c times. qₙ is pₙ with other counts:
/// instead of c(h, t) the number of different tokens that stand before h, t. Where n_c or n_{c+1}
/// is 0, D(c) = c/2; it is kept between 0.1·c and 0.9·c. c(h) = 0: pₙ = qₙ₋₁.
///
/// Stream: `test` follows `train`, so its first tokens have a history too. Lines: each document is
/// counted separately. Its history begins with boundaries, as many as needed; what begins with its
/// document keeps its count in q, for nothing else can stand before it. Every token of a document
/// and the boundary after it are predicted. V is the size of the vocabulary, including the boundary.
/// Throws ValueError for a test without tokens, tokens outside 0 … V − 1, a history outside 0 … 12,
/// and a stream together with lines. Needs about 60 bytes for each token of `train`, and 50 for each
/// of `test`.
std::vector<double> ngram_losses(const TokenText& train, const TokenText& test, Dim vocabulary,
                                 int most_history);

/// The history that such tables should have, at most `most_history`: that of the lowest loss on the
/// last tenth of this text, counted on the rest. A longer one must gain 0.001 nats by each token.
int best_history(const TokenText& train, Dim vocabulary, int most_history);

/// The least loss that a text allows. Where the same beginning goes on in different ways, even a
/// perfect model has to guess: the least mean loss in nats that any causal model can have over the
/// documents of this text. It is the entropy of the next token, given all tokens of its document
/// before it:
///
///   least = −1/N·Σ ln(count(beginning, next) / count(beginning))
///
/// The sum runs over the N tokens that mean_loss() predicts: all tokens of each document, and the
/// boundary after it. A beginning is the boundary before a document and the tokens up to the
/// predicted one. Its count is the number of documents that begin so. Throws ValueError for a text
/// without documents: a stream has only one beginning.
double least_loss(const TokenText& text);

/// How much of the samples occurs verbatim in the training text, what a model has memorised: the
/// share of their characters in runs of at least `least` (0 counts as 1) that the text has too.
/// Characters are code points of UTF-8; a byte that is not UTF-8 is one character. Several blanks
/// (spaces, tabs, line ends) in a row count as one space, so no long run consists of blanks alone.
double copied_share(const std::vector<std::string>& samples, std::string_view text,
                    std::size_t least);

}  // namespace fledge
