// From text to token numbers and back.
//
// Not here: merging bytes (byte_pairs.h); files, splits and batches (corpus.h, batches.h). Key
// idea: a tokenizer is its list of symbols and, for byte pairs, the merges; both live in the
// checkpoint, so a model never meets a numbering that it was not trained with. Next: corpus.h.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/base/errors.h"
#include "nn/text/byte_pairs.h"

namespace fledge {

/// What a token is.
enum class Tokens {
  character,  // a code point of UTF-8 that the text has
  word,       // what stands between spaces, tabs, \r, \v, \f; a line end \n is a word of its own
  byte,       // one of 256
  bpe,        // a string of bytes, from single ones by merging the commonest neighbours
};

/// "character", "word", "byte", "bpe", and back.
std::string to_string(Tokens kind);
/// Throws ValueError for any other name.
Tokens tokens_named(std::string_view name);

/// A character or word of a text that a tokenizer does not have.
struct UnknownSymbol : ValueError {
  UnknownSymbol(const std::string& message, std::string_view unknown, std::size_t first_byte)
      : ValueError(message), symbol(unknown), at(first_byte) {}
  std::string symbol;
  std::size_t at;  // its first byte in the text
};

/// The most symbols that a saved tokenizer has. Training refuses a text that has more, so that every
/// command can read what was trained.
inline constexpr Dim most_symbols = 1'000'000;

class Tokenizer {
 public:
  /// Learns its symbols from a text; bpe merges until there are `most` of them, 256 at least.
  /// Characters and words are numbered in the order of their bytes: the order of a text's lines
  /// changes no number. Throws ValueError for a text without symbols, and for characters of a text
  /// that is not UTF-8, naming the byte.
  Tokenizer(Tokens kind, std::string_view text, Dim most = 512);
  /// The same tokenizer again. Throws ValueError for anything that no text could have given: no
  /// symbols, the same one twice, an empty one, one that its kind cannot have, and merges that are
  /// not those of the symbols.
  Tokenizer(Tokens kind, std::vector<std::string> symbols, const std::vector<Merge>& merges = {});

  /// Token numbers of a text. decode(encode(x)) is x, NUL, \r\n and a byte order mark included; for
  /// words it is x with one space between the words of a line, and no white space at its ends.
  /// Throws UnknownSymbol for the first symbol that it does not have; `first` is added to the byte
  /// that errors name, for a text that is part of a longer one.
  std::vector<Dim> encode(std::string_view text, std::size_t first = 0) const;
  /// Throws ValueError for a number that no symbol has.
  std::string decode(const std::vector<Dim>& ids) const;
  /// The number of a symbol, if it has one.
  std::optional<Dim> find(std::string_view symbol) const;

  Tokens kind() const { return kind_; }
  Dim size() const { return static_cast<Dim>(symbols_.size()); }
  const std::vector<std::string>& symbols() const { return symbols_; }
  const std::vector<Merge>& merges() const { return pairs_.merges(); }

 private:
  void number_symbols();

  Tokens kind_;
  std::vector<std::string> symbols_;
  BytePairs pairs_;
  std::map<std::string, Dim, std::less<>> numbers_;
};

/// Throws ValueError naming the first byte that is not UTF-8. `first` is added to its number, for a
/// text that is part of a longer one.
void require_utf8(std::string_view text, std::size_t first = 0);

}  // namespace fledge
