// builds: f64
#include "nn/text/tokenizer.h"

#include "engine/errors.h"
#include "engine/random.h"
#include "tests/support/catch.h"

using namespace fledge;

namespace {

const std::string birds = "birds sometimes walk\nbirds sometimes fly\n";

std::string random_bytes(std::uint64_t seed, std::size_t size) {
  Rng rng(seed);
  std::string bytes;
  for (std::size_t i = 0; i < size; ++i) bytes += static_cast<char>(rng.below(256));
  return bytes;
}

}  // namespace

TEST_CASE("characters: one number a code point, in the order of their bytes") {
  const Tokenizer tokens(Tokens::character, "baß b");
  CHECK(tokens.symbols() == std::vector<std::string>{" ", "a", "b", "ß"});
  CHECK(tokens.encode("abß") == std::vector<Dim>{1, 2, 3});
  CHECK(tokens.decode({3, 0, 1}) == "ß a");
  CHECK(tokens.decode(tokens.encode("baß b")) == "baß b");
}

TEST_CASE("words: line ends are words, white space between them is one space") {
  const Tokenizer tokens(Tokens::word, birds);
  CHECK(tokens.symbols() == std::vector<std::string>{"\n", "birds", "fly", "sometimes", "walk"});
  CHECK(tokens.encode("birds \t walk") == std::vector<Dim>{1, 4});
  CHECK(tokens.decode(tokens.encode(birds)) == birds);
  CHECK(tokens.decode(tokens.encode("  birds   fly ")) == "birds fly");
}

TEST_CASE("bytes: any bytes come back") {
  const Tokenizer tokens(Tokens::byte, "");
  CHECK(tokens.size() == 256);
  const std::string bytes = random_bytes(1, 5000) + std::string(3, '\0');
  CHECK(tokens.decode(tokens.encode(bytes)) == bytes);
}

TEST_CASE("byte pairs: the commonest neighbours first, never from word to word") {
  const Tokenizer tokens(Tokens::bpe, "abab abab abc", 260);
  CHECK(tokens.merges().front() == std::pair<Dim, Dim>{'a', 'b'});
  CHECK(tokens.symbols()[256] == "ab");
  CHECK(tokens.size() <= 260);
  for (const std::string& symbol : tokens.symbols())
    CHECK((symbol.size() == 1 || symbol.find(' ') == 0 || symbol.find(' ') == symbol.npos));
  CHECK(tokens.encode("abab").size() < 4);
}

TEST_CASE("byte pairs: any bytes come back, learned or not") {
  const Tokenizer tokens(Tokens::bpe, birds + birds + "  two   spaces\r\n", 300);
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    const std::string bytes = random_bytes(seed, seed % 67);
    REQUIRE(tokens.decode(tokens.encode(bytes)) == bytes);
  }
  for (const std::string text : {"", " ", "   ", "\n\n birds", "birds  ", " a  b\t\tc "})
    CHECK(tokens.decode(tokens.encode(text)) == text);
}

TEST_CASE("byte pairs: learning stops when nothing stands twice, and is the same every time") {
  const Tokenizer once(Tokens::bpe, "abcdefg", 1000);
  CHECK(once.size() == 256);
  const Tokenizer one(Tokens::bpe, birds, 320), two(Tokens::bpe, birds, 320);
  CHECK(one.symbols() == two.symbols());
  CHECK(one.merges() == two.merges());
}

TEST_CASE("a tokenizer is made again from its symbols and merges") {
  const Tokenizer learned(Tokens::bpe, birds + birds, 290);
  const Tokenizer again(Tokens::bpe, learned.symbols(), learned.merges());
  CHECK(again.encode(birds) == learned.encode(birds));
  using Symbols = std::vector<std::string>;
  using Merges = std::vector<std::pair<Dim, Dim>>;
  CHECK_THROWS_WITH(Tokenizer(Tokens::word, Symbols{"a", "a"}, {}),
                    ContainsSubstring("'a' stands twice"));
  CHECK_THROWS_WITH(Tokenizer(Tokens::word, Symbols{""}, {}), ContainsSubstring("is empty"));
  CHECK_THROWS_WITH(Tokenizer(Tokens::word, Symbols{"a", "b"}, Merges{{0, 1}}),
                    ContainsSubstring("only byte pairs"));
  Merges cyclic = learned.merges();
  cyclic[0] = {256, 257};
  CHECK_THROWS_WITH(Tokenizer(Tokens::bpe, learned.symbols(), cyclic),
                    ContainsSubstring("not there yet"));
  Merges other = learned.merges();
  other[0] = {'x', 'y'};
  CHECK_THROWS_WITH(Tokenizer(Tokens::bpe, learned.symbols(), other),
                    ContainsSubstring("is not what merge 0 makes"));
}

TEST_CASE("what was not in the text is named, and shown so that a terminal stays as it is") {
  const Tokenizer words(Tokens::word, birds);
  CHECK_THROWS_WITH(words.encode("birds swim"), ContainsSubstring("'swim' at byte 6"));
  const Tokenizer characters(Tokens::character, birds);
  CHECK_THROWS_WITH(characters.encode("b\x1b[2J"), ContainsSubstring("'\\x1b' at byte 1"));
  CHECK_THROWS_WITH(characters.encode("b\xff"), ContainsSubstring("not UTF-8 at byte 1"));
  CHECK_THROWS_WITH(Tokenizer(Tokens::character, "a\xc3"), ContainsSubstring("not UTF-8 at byte 1"));
  CHECK_THROWS_WITH(words.decode({5}), ContainsSubstring("no symbol has number 5"));
  CHECK_THROWS_WITH(words.decode({-1}), ContainsSubstring("no symbol has number -1"));
  CHECK_THROWS_WITH(Tokenizer(Tokens::bpe, birds, 255), ContainsSubstring("at least 256"));
}
