// What counting n-grams says of a text: the losses of tables, as a baseline (a trained model should
// be below them), the least loss of any model, and how much of a sample stands in the text.
#pragma once

#include <cstddef>
#include <functional>
#include <string_view>
#include <vector>

#include "nn/text/corpus.h"

namespace fledge {

/// The mean loss in nats over the tokens of `test`, of tables with 0, 1, …, most_history tokens of
/// history. A table is interpolated with the table of a shorter history (Jelinek & Mercer 1980),
/// so that a longer history hardly ever gives a larger loss:
///
///   p₀(t) = (count(t) + 1) / (tokens + V)
///   pₙ(t | h) = λ·count(h, t)/count(h) + (1 − λ)·pₙ₋₁(t | h without its first token)
///
/// count(h) = 0: pₙ = pₙ₋₁. The weight λ depends on n and on ⌊log₂ count(h)⌋. It is estimated on
/// the training text by expectation maximisation: each of its tokens is predicted from the counts
/// without that token (leaving one out; Ney, Essen & Kneser 1994).
///
/// Stream: `test` follows `train`, so its first tokens have a history too. A token with fewer than
/// n tokens before it is predicted by pₙ₋₁. Lines: each document is counted separately. Its history
/// begins with boundaries, as many as needed. Every token of a document and the boundary after it
/// are predicted. V is the size of the vocabulary, including the boundary. Throws ValueError for a
/// test without tokens, tokens outside 0 … V − 1, a history outside 0 … 8, and a stream together
/// with lines. Needs about 150 bytes for each token of `train`, and 25 for each of `test`.
/// `progress` is called with the share of the work that is done, up to 1.
std::vector<double> ngram_losses(const TokenText& train, const TokenText& test, Dim vocabulary,
                                 int most_history,
                                 const std::function<void(double share)>& progress = {});

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

/// Characters are code points of UTF-8; a byte that is not UTF-8 is one character. Several blanks
/// (spaces, tabs, line ends) in a row count as one space, so no long run consists of blanks alone.
struct VerbatimOverlap {
  double share = 0;  // the share of the sample's characters in runs of `least` characters or more
  std::size_t longest = 0;  // characters of the longest run, which may be shorter than `least`
};

/// How much of a sample occurs verbatim in the training text: what a model has memorised. The
/// n-grams (strings of n characters) of the sample are put into a hash table. A rolling hash finds
/// those that occur in the text (Karp & Rabin 1987).
///
/// A run is a part of the sample that occurs in the text; least = 0 counts as 1. The length of the
/// longest run is found by bisection: at most 2·log2(length of the sample) passes, each in time
/// linear in both texts. Takes some 64 bytes of memory per character of the sample, and 4 per
/// character of the text.
VerbatimOverlap verbatim_overlap(std::string_view sample, std::string_view text, std::size_t least);

}  // namespace fledge
