// Batches: rows of tokens, or lines one after another, and for each token the one that follows it.
//
// A batch depends only on the text, the number of the step and the random generator. So a resumed
// run gets the same batches, and no position in the text is saved.
#pragma once

#include <span>
#include <vector>

#include "engine/array.h"
#include "engine/base/indices.h"
#include "nn/text/corpus.h"

namespace fledge {

/// The target of a token that is history alone. cross_entropy(logits, targets, no_target) ignores
/// it.
inline constexpr Dim no_target = -1;

/// Inputs and targets: B windows of one length, (B, T); or windows one after another, of n tokens
/// together, (n). Each target is the token after its input.
struct Batch {
  Indices inputs, targets;
  std::vector<Dim> lengths;  // of the windows in (n)
};

/// Tokens begin … begin + length of a text. The last one is only a target: `length` predictions. The
/// first `skip` of them are history: they are not counted, and their targets are no_target.
struct TextWindow {
  std::size_t begin = 0;
  Dim length = 0, skip = 0;

  Dim counted() const { return length - skip; }
};

/// The windows of one step, drawn with the generator `data`, which is not advanced. Stream: windows
/// of `context` predictions, all beginnings equally likely. Lines: whole documents; each epoch has
/// all documents once, in a new random order. Of a document with more than `context` predictions, a
/// random window of `context` is taken. Throws ValueError if batch or context is below 1, if step
/// is below 0, if a stream has fewer than context + 1 tokens, and for lines without a document.
std::vector<TextWindow> sample_windows(const TokenText& text, Dim batch, Dim context,
                                       std::int64_t step, const Rng& data);

/// The mean length of the windows that sample_windows() draws.
double mean_window(const TokenText& text, Dim context);

/// Windows that count every token of a text exactly once, in order, except the first token of a
/// stream and the boundary before a document. Each window has `context` predictions, or fewer at
/// the end of the text or document. The first `history` of them are skipped, but none of the first
/// window of a stream or document. Throws ValueError unless 0 ≤ history < context.
std::vector<TextWindow> evaluation_windows(const TokenText& text, Dim context, Dim history = 0);

/// Windows of one length as rows, others one after another: nothing is padded. Throws ValueError if
/// there is no window.
Batch batch_of(const TokenText& text, std::span<const TextWindow> windows);

/// Element i of a random permutation of 0 … n − 1. The permutation is not stored: the element is
/// computed by a Feistel network on numbers of 2k bits, repeated until the result is below n (Black
/// & Rogaway 2002, "cycle walking"). The generator `order` selects the permutation and is not
/// advanced. Throws ValueError unless 0 ≤ i < n.
Dim permutation_element(Dim i, Dim n, const Rng& order);

}  // namespace fledge
