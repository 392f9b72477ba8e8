// From text to token numbers and back.
//
// Not here: files, splits, batches (corpus.h). Key idea: a tokenizer is its list of symbols and, for
// byte pairs, the merges in the order they were learned; both live in the checkpoint, so a model never
// meets a numbering that it was not trained with.                          Next: tokenizer.cpp.
#pragma once

#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "engine/real.h"

namespace fledge::inline FLEDGE_BUILD {

/// What a token is.
enum class Tokens {
  character,  // a code point of UTF-8 that the text has
  word,       // what stands between white space; a line end is a word
  byte,       // one of 256
  bpe,        // a string of bytes, from single ones by merging the commonest neighbours
};

class Tokenizer {
 public:
  /// Learns its symbols from a text. `most` is the number of symbols of Tokens::bpe, 256 or more.
  /// Characters and words are numbered in order of their bytes, so the order of a text's lines changes
  /// no number. Throws ValueError for a text that is not UTF-8 (characters), naming the byte.
  Tokenizer(Tokens kind, std::string_view text, Dim most = 512);
  /// The same tokenizer again, from what it was made of. Throws ValueError for symbols that stand twice
  /// and merges of symbols that are not there.
  Tokenizer(Tokens kind, std::vector<std::string> symbols, std::vector<std::pair<Dim, Dim>> merges);

  /// Token numbers of a text. decode(encode(x)) is x, for words up to white space. Throws ValueError
  /// naming the first symbol that was not in the text it learned from.
  std::vector<Dim> encode(std::string_view text) const;
  /// Throws ValueError for a number that no symbol has.
  std::string decode(const std::vector<Dim>& ids) const;

  Tokens kind() const { return kind_; }
  Dim size() const { return static_cast<Dim>(symbols_.size()); }
  const std::vector<std::string>& symbols() const { return symbols_; }
  const std::vector<std::pair<Dim, Dim>>& merges() const { return merges_; }

 private:
  void number_symbols();
  void learn_merges(std::string_view text, Dim most);
  std::vector<Dim> merged(std::string_view piece) const;

  Tokens kind_;
  std::vector<std::string> symbols_;
  std::vector<std::pair<Dim, Dim>> merges_;
  std::unordered_map<std::string, Dim> ids_;
  std::unordered_map<std::uint64_t, Dim> merge_ids_;  // of a pair of symbols: what they become
};

}  // namespace fledge::inline FLEDGE_BUILD
