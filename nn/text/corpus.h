// A text as token numbers, split into a training part and a validation part.
//
// A text is either one stream, or one document per line. A document is in one part as a whole. A
// line end, the boundary, stands before and after each document.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "nn/text/tokenizer.h"

namespace fledge {

enum class Reading {
  stream,  // the whole text is one document: windows begin anywhere
  lines,   // every line that is not blank is a document; \n or \r\n ends it
};

struct TokenText {
  std::vector<Dim> tokens;
  /// Only for lines: document i is tokens[starts[i]] … tokens[starts[i + 1]]. The first and the
  /// last of them are boundaries, the token of "\n". There is one start more than documents.
  std::vector<std::size_t> starts;

  Dim size() const { return static_cast<Dim>(tokens.size()); }
  Dim documents() const { return starts.empty() ? 0 : static_cast<Dim>(starts.size()) - 1; }
};

/// The validation part leaves no token or document for training.
struct NothingToTrain : ValueError {
  using ValueError::ValueError;
};

struct CorpusOptions {
  Reading reading = Reading::stream;
  Tokens tokens = Tokens::character;
  Dim symbols = 512;  // for Tokens::bpe
  /// The size of the validation part. Below 1: a share of the text. Else: a number of documents
  /// (lines), tokens (stream) or bytes (stream of bpe).
  double valid = 0.1;
  std::uint64_t seed = 1;  // lines: selects the documents for validation
};

struct CorpusFacts {
  Dim bytes = 0;              // of the text
  Dim documents = 0;          // lines that are not blank
  Dim symbols = 0;            // distinct symbols in the text
  double repeated_share = 0;  // of the validation part's characters without line ends: in whole
                              // lines that are also in the training part
  Dim unseen = 0;  // tokens of the validation part that do not occur in the training part
};

struct Corpus {
  Tokenizer tokenizer;
  TokenText train, valid;
  CorpusFacts facts;
};

/// The lines that are not blank, without \n or \r\n at their ends. The last line may have no line
/// end. An \r that is not before \n belongs to its line.
std::vector<std::string_view> lines_of(std::string_view text);

/// Lines: the seed selects the documents for validation; both parts keep the order of the text.
/// Stream: the first ⌊n·(1 − valid)⌋ of n tokens are for training. The symbols are those of the
/// whole text. But merges (bpe) are learned from the training part alone. So a stream of bpe is cut
/// at a byte, where a character begins. Throws ValueError for a text that is empty, blank or
/// (characters) not UTF-8, and if `valid` leaves no training part. With the tokenizer of an
/// existing model, options.tokens and options.symbols are not used; throws UnknownSymbol too.
Corpus read_corpus(std::string_view text, const CorpusOptions& options,
                   std::optional<Tokenizer> known = {});

}  // namespace fledge
