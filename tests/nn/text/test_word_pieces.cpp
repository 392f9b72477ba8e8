// Words and punctuation marks: the pieces give the same text again. Examples are in
// tests/formats/texts.txt.
#include "nn/text/word_pieces.h"

#include "engine/array.h"
#include "tests/support/catch.h"

using namespace fledge;

namespace {

// A text as a tokenizer would give it back: words and blanks.
std::string joined(const std::vector<std::string>& chunks) {
  std::string text, before;
  for (const std::string& chunk : chunks)
    for (const WordPiece& piece : word_pieces(chunk)) {
      if (!before.empty() && are_apart(before, piece.symbol)) text += ' ';
      text += without_joins(piece.symbol);
      before = piece.symbol;
    }
  return text;
}

}  // namespace

TEST_CASE("word pieces: the place of each piece is that of its first byte") {
  const std::vector<WordPiece> pieces = word_pieces("(鳥)");
  REQUIRE(pieces.size() == 3);
  CHECK(pieces[1].at == 1);
  CHECK(pieces[2].at == 4);
}

TEST_CASE("word pieces: any words give the same text again, and each piece is one") {
  const std::vector<std::string> parts{"a",  "b", "'",  "-", ".", ",",    "(",       ")",
                                       "\"", "…", "，", "9", "!", "\xff", "\xe2\x80"};
  for (std::uint64_t seed = 1; seed <= 3000; ++seed) {
    Rng rng(seed);
    std::vector<std::string> chunks(static_cast<std::size_t>(1 + rng.below(4)));
    std::string text;
    for (std::string& chunk : chunks) {
      for (Dim i = 1 + rng.below(6); i > 0; --i)
        chunk += parts[static_cast<std::size_t>(rng.below(static_cast<Dim>(parts.size())))];
      text += (text.empty() ? "" : " ") + chunk;
      for (const WordPiece& piece : word_pieces(chunk)) {
        CAPTURE(chunk, piece.symbol);
        REQUIRE(is_word_piece(piece.symbol));
      }
    }
    REQUIRE(joined(chunks) == text);
  }
  for (const char* wrong :
       {"", "\t", "\t\t", "\ta", "walk,", "\twalk", "walk\t", "a\tb", "()", "\t\t,"})
    CHECK_FALSE(is_word_piece(wrong));
}
