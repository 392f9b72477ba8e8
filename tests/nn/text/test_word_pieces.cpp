// Words and punctuation marks: what is split, and that the pieces give the same text again.
#include "nn/text/word_pieces.h"

#include "engine/array.h"
#include "tests/support/catch.h"

using namespace fledge;

namespace {

using Symbols = std::vector<std::string>;

Symbols symbols_of(std::string_view text) {
  Symbols symbols;
  for (const WordPiece& piece : word_pieces(text)) symbols.push_back(piece.symbol);
  return symbols;
}

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

TEST_CASE("word pieces: marks are split from words, and say where no blank stands") {
  CHECK(symbols_of("walk") == Symbols{"walk"});
  CHECK(symbols_of("walk,") == Symbols{"walk", "\t,"});
  CHECK(symbols_of("(walk)") == Symbols{"(\t", "walk", "\t)"});
  CHECK(symbols_of("\"Walk!\"") == Symbols{"\"\t", "Walk", "\t!", "\t\""});
  CHECK(symbols_of("f(x)") == Symbols{"f", "\t(\t", "x", "\t)"});
  CHECK(symbols_of("love--that") == Symbols{"love", "\t--\t", "that"});
  CHECK(symbols_of("wait...") == Symbols{"wait", "\t..."});
  CHECK(symbols_of("光，疑。") == Symbols{"光", "\t，\t", "疑", "\t。"});
}

TEST_CASE(
    "word pieces: apostrophes, hyphens, and marks between letters or digits belong to words") {
  for (const char* word : {"don't", "o'er", "'tis", "well-known", "3.14", "1,000", "10:30", "U.S",
                           "a-b-c", "r\xc3\xa9sum\xc3\xa9", "\xff\xfe"})
    CHECK(symbols_of(word) == Symbols{word});
  CHECK(symbols_of("U.S.") == Symbols{"U.S", "\t."});
  CHECK(symbols_of("3.14,") == Symbols{"3.14", "\t,"});
  CHECK(symbols_of("a.,b") == Symbols{"a", "\t.\t", "\t,\t", "b"});
  CHECK(symbols_of("a..b") == Symbols{"a", "\t..\t", "b"});
}

TEST_CASE("word pieces: a mark that stands alone has no tab") {
  CHECK(symbols_of(".") == Symbols{"."});
  CHECK(symbols_of("--") == Symbols{"--"});
  CHECK(symbols_of(":)") == Symbols{":", "\t)"});
  CHECK(symbols_of("").empty());
}

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
