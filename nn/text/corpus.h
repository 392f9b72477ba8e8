// A text as token numbers, in two parts: one to train on, one to validate with.
//
// Not here: files, which whoever has one reads; batches (batches.h). Key idea: a text is one
// stream, or a document a line; documents are split whole, so that nothing of a validation document
// is ever trained on, and stand between boundaries, the line ends. Next: batches.h.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "nn/text/tokenizer.h"

namespace fledge {

enum class Reading {
  stream,  // the text is one: windows begin anywhere
  lines,   // every line that is not blank is a document of its own, \n or \r\n its end
};

struct TokenText {
  std::vector<Dim> tokens;
  /// Only for lines: document i is tokens[starts[i]] … tokens[starts[i + 1]], of which the first
  /// and the last are boundaries, the token of "\n". So there is one start more than documents.
  std::vector<std::size_t> starts;

  Dim size() const { return static_cast<Dim>(tokens.size()); }
  Dim documents() const { return starts.empty() ? 0 : static_cast<Dim>(starts.size()) - 1; }
};

struct CorpusOptions {
  Reading reading = Reading::stream;
  Tokens tokens = Tokens::character;
  Dim symbols = 512;  // of Tokens::bpe
  /// The part for validation: below 1 a share, else how many documents (lines) or tokens (stream;
  /// bytes for bpe). 0: none.
  double valid = 0.1;
  std::uint64_t seed = 1;  // lines: which documents are for validation
};

struct CorpusFacts {
  Dim bytes = 0;        // of the text
  Dim documents = 0;    // its lines that are not blank
  Dim symbols = 0;      // distinct ones that it has
  Dim valid_lines = 0;  // of these documents, those that stand whole in the validation part,
  Dim repeated = 0;     // and those of them that stand in the training part too
  Dim unseen = 0;       // tokens of the validation part that the training part has none of
};

struct Corpus {
  Tokenizer tokenizer;
  TokenText train, valid;
  CorpusFacts facts;
};

/// Lines: documents are drawn for validation by the seed; both parts keep the order of the text.
/// Stream: of n tokens the first ⌊n·(1 − valid)⌋ are for training. Symbols are those of the whole
/// text, but merges (bpe) are learned from the training part alone, so the cut is made on bytes,
/// where a character begins. Throws ValueError for a text that is empty, blank or (characters) not
/// UTF-8, and when `valid` leaves nothing to train on.
Corpus read_corpus(std::string_view text, const CorpusOptions& options);
/// The same with the symbols of a model that exists; options.tokens and options.symbols do not
/// matter. Throws UnknownSymbol too.
Corpus read_corpus(std::string_view text, const CorpusOptions& options, Tokenizer tokenizer);

}  // namespace fledge
