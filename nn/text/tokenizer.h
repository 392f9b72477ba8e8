// From text to token numbers and back.
//
// A tokenizer consists of its symbols and, for byte pairs, the merges and special tokens. They are
// saved with the model, so a model always gets the numbers that it was trained with.
#pragma once

#include <algorithm>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "nn/text/byte_pairs.h"

namespace fledge {

/// What a token is.
enum class Tokens {
  character,  // a code point of UTF-8
  word,       // a word or a punctuation mark (pieces.h); a line end \n is also a word
  byte,       // one of 256
  bpe,        // a string of bytes, made by merging pairs (byte_pairs.h)
};

/// "character", "word", "byte" or "bpe".
std::string to_string(Tokens kind);
/// The opposite direction. Throws ValueError for any other name.
Tokens tokens_named(std::string_view name);

/// A special token. The flags have the names and meanings of Hugging Face's library "tokenizers".
struct SpecialToken {
  std::string text;
  Dim id = 0;
  bool normalized = false;  // found only in what is left after the tokens without this flag
  bool special = true;      // other programs may leave it out when they decode

  bool operator==(const SpecialToken&) const = default;
};

/// The tokens that begin, end and fill texts, as the files of a model name them: bos_token_id,
/// eos_token_id (one number or several) and pad_token_id. A number may be beyond the vocabulary.
struct MarkTokens {
  std::optional<Dim> begin;
  std::vector<Dim> ends;
  std::optional<Dim> pad;

  bool operator==(const MarkTokens&) const = default;
};

/// A part of a text: a special token with its id, or text between special tokens. Then the id is
/// −1.
struct TextPart {
  std::string_view text;
  Dim id = -1;
};

/// Texts that are one token wherever they occur, such as "<|endoftext|>". They are found before a
/// text is cut into pieces.
class SpecialTokens {
 public:
  SpecialTokens() = default;
  /// Throws ValueError for a text that is empty or has more than 1,024 bytes, and for two tokens
  /// with the same text or the same number.
  explicit SpecialTokens(std::vector<SpecialToken> tokens);

  /// The parts of a text in their order. The leftmost special token is found first; of those that
  /// begin at the same position, the longest.
  std::vector<TextPart> split(std::string_view text) const;

  std::optional<Dim> find(std::string_view text) const;
  /// First those that are not `normalized`, in the order of their texts.
  const std::vector<SpecialToken>& list() const { return tokens_; }

 private:
  std::vector<SpecialToken> tokens_;
};

/// A text has a character, word or byte that the tokenizer does not have.
struct UnknownSymbol : ValueError {
  UnknownSymbol(const std::string& message, std::string_view unknown, std::size_t first_byte)
      : ValueError(message), symbol(unknown), at(first_byte) {}
  std::string symbol;
  std::size_t at;  // the position of its first byte in the text
};

/// The symbols of a text that a tokenizer does not have.
struct UnknownSymbols {
  std::map<std::string, Dim> counts;  // of each different one
  Dim unknown = 0, all = 0;           // symbols of the text
  std::size_t first = 0;              // the first byte of the first unknown one
  std::string rest;                   // the text without them; a blank in the place of each word

  double share() const { return double(unknown) / double(std::max<Dim>(all, 1)); }
};

class Tokenizer {
 public:
  /// Takes the symbols from a text; bpe merges pairs until there are `most` symbols (at least 256).
  /// Characters and words are numbered in the order of their bytes, so the numbers do not depend on
  /// the order of the lines. Throws ValueError for a text without symbols and, if the tokens are
  /// characters, for a text that is not UTF-8, naming the byte.
  Tokenizer(Tokens kind, std::string_view text, Dim most = 512);
  /// Restores a tokenizer of characters or words from its symbols, or one of bytes from nothing.
  /// Throws ValueError for parts that no text can give: no symbols, a symbol twice, an empty
  /// symbol, a symbol that is not of this kind, symbols of a kind that has none, and kind bpe.
  Tokenizer(Tokens kind, std::vector<std::string> symbols);
  /// A tokenizer of kind bpe. It has size() = 1 + the largest number. A number may be without text;
  /// special tokens may have numbers of their own, or that of a symbol with the same bytes. Throws
  /// ValueError if there is no symbol, if a special token has the number of another symbol, and for
  /// special tokens that SpecialTokens refuses.
  explicit Tokenizer(BytePairs pairs, std::vector<SpecialToken> special = {});

  /// Token numbers of a text. decode(encode(x)) is x, including NUL, \r\n and a byte order mark.
  /// For words it is x with one space between the words of a line, and no white space at its ends;
  /// a punctuation mark that the tokenizer has only with other blanks beside it gets those. Throws
  /// UnknownSymbol for the first symbol that the tokenizer does not have. `first` is added
  /// to the position that errors name, for a text that is part of a longer one.
  std::vector<Dim> encode(std::string_view text, std::size_t first = 0) const;
  /// What encode() would refuse, and the rest, in which this may join its neighbours to others. Of
  /// byte pairs a symbol is a token, or a byte that has none. Throws ValueError as encode() does
  /// for a text that is not UTF-8.
  UnknownSymbols unknown_symbols(std::string_view text) const;
  /// The text of token numbers; a number without text gives none. Throws ValueError for a number
  /// that is not 0 … size() − 1.
  std::string decode(const std::vector<Dim>& ids) const;
  /// The number of a symbol; nullopt if the tokenizer does not have it. A punctuation mark may be
  /// written without the tabs of pieces.h.
  std::optional<Dim> find(std::string_view symbol) const;
  /// The token that stands between documents: the first of marks().ends below size(); without one
  /// the special token "<|endoftext|>".
  std::optional<Dim> end_of_text() const;
  /// The token that begins a text: marks().begin if it is below size(), else end_of_text().
  std::optional<Dim> begin_of_text() const;
  /// Whether a text ends with this token: it is end_of_text() or another one of marks().ends.
  bool ends_text(Dim id) const;
  /// The marks of the model's files; empty unless set_marks() was called.
  const MarkTokens& marks() const { return marks_; }
  void set_marks(MarkTokens marks) { marks_ = std::move(marks); }
  /// The numbers 0 … vocabulary − 1 that have no text, in their order. The table of a model may
  /// have such rows: GPT-2's 50,257 tokens are often padded to 50,304.
  std::vector<Dim> without_text(Dim vocabulary) const;
  /// Makes size() at most `size`: encode() and find() refuse symbols with larger numbers, as the
  /// table of the model has no rows for them. symbols() keeps them. Throws ValueError unless the
  /// kind is bpe.
  void limit_to(Dim size);

  Tokens kind() const { return kind_; }
  Dim size() const { return std::min(limit_, static_cast<Dim>(symbols_.size())); }
  const std::vector<std::string>& symbols() const { return symbols_; }
  const std::vector<Merge>& merges() const { return pairs_->merges(); }
  const BytePairs& pairs() const { return *pairs_; }
  const std::vector<SpecialToken>& special_tokens() const { return special_.list(); }

 private:
  void number_symbols();
  template <class F>
  void for_each_symbol(std::string_view text, std::size_t first, F f) const;
  bool is_symbol(std::string_view symbol) const;
  using Unknown = std::function<void(std::string_view symbol, std::size_t at)>;
  std::vector<Dim> encode_known(std::string_view text, std::size_t at,
                                const Unknown& unknown) const;

  Tokens kind_;
  std::vector<std::string> symbols_;
  // Of bytes and bpe. Copies of a tokenizer share it.
  std::shared_ptr<const BytePairs> pairs_ = std::make_shared<const BytePairs>();
  SpecialTokens special_;  // of bpe
  MarkTokens marks_;
  Dim limit_ = std::numeric_limits<Dim>::max();      // see limit_to()
  std::map<std::string, Dim, std::less<>> numbers_;  // of characters and words
};

/// The tokenizer of kind word whose symbols are the numbers "0" … "vocabulary − 1", for a model
/// whose own tokenizer is not known: its text is token numbers. Throws ValueError unless
/// 1 ≤ vocabulary ≤ most_symbols.
Tokenizer number_tokenizer(Dim vocabulary);

/// Throws ValueError naming the first byte that is not UTF-8. `first` is added to its number, for a
/// text that is part of a longer one.
void require_utf8(std::string_view text, std::size_t first = 0);

}  // namespace fledge
