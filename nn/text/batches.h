// Batches: rows of tokens, and for each token the one that comes next.
//
// Not here: the model, the loss. Key idea: what is drawn at a step depends on the text, the step
// and the stream of random numbers alone, so a run that is resumed sees the same batches, and
// nobody stores where the data stood. Next: ngrams.h.
#pragma once

#include <span>
#include <vector>

#include "engine/base/indices.h"
#include "engine/random_array.h"
#include "nn/text/corpus.h"

namespace fledge {

/// The target of what is padded; cross_entropy(logits, targets, no_target) does not count it.
inline constexpr Dim no_target = -1;

/// Inputs and targets (B, T). Target t of a row is the token behind its input t.
struct Batch {
  Indices inputs, targets;
};

/// Tokens begin … begin + length of a text, the last one as a target only: `length` predictions.
struct TextWindow {
  std::size_t begin = 0;
  Dim length = 0;
};

/// The windows of one step, drawn from `data`, which stays as it is. Stream: windows of `context`,
/// all beginnings equally likely. Lines: whole documents, each once before any comes again (an
/// epoch), in an order of its own each epoch; of a document with over `context` predictions a
/// window of `context`, all equally likely.
/// Throws ValueError for a batch or a context under 1, a step under 0, a stream of fewer than
/// context + 1 tokens, and lines without a document.
std::vector<TextWindow> sample_windows(const TokenText& text, Dim batch, Dim context,
                                       std::int64_t step, const Rng& data);

/// Windows side by side that predict every token of a text exactly once, but the first of a stream
/// and the first boundary of a document, before which nothing stands: `context` predictions each,
/// fewer at the end of the text or document. Throws ValueError for a context under 1.
std::vector<TextWindow> evaluation_windows(const TokenText& text, Dim context);

/// Windows as rows, T the longest of them. Shorter rows are padded at their end: inputs with the
/// text's first token (of lines, the boundary), targets with no_target.
/// Throws ValueError when there is no window.
Batch batch_of(const TokenText& text, std::span<const TextWindow> windows);

/// Place i of a random order of 0 … n − 1, without making the order: a Feistel network on numbers
/// of 2k bits, applied until it falls below n (Black & Rogaway 2002, "cycle walking"). The same
/// `order`, which stays as it is, is the same order. Throws ValueError unless 0 ≤ i < n.
Dim shuffled(Dim i, Dim n, const Rng& order);

}  // namespace fledge
