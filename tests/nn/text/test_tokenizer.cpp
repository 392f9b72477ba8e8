#include "nn/text/tokenizer.h"

#include "engine/array.h"
#include "tests/support/catch.h"
#include "tests/support/refusal.h"

using namespace fledge;
using tests::refusal;

namespace {

using Ids = std::vector<Dim>;
using Symbols = std::vector<std::string>;
using namespace std::string_literals;

const std::string two_birds = "birds sometimes walk\nbirds sometimes fly\n";

std::string random_bytes(std::uint64_t seed, std::size_t size) {
  Rng rng(seed);
  std::string bytes;
  for (std::size_t i = 0; i < size; ++i) bytes += static_cast<char>(rng.below(256));
  return bytes;
}

// The classes of Kuhn's stress test: where each stops being UTF-8.
const std::vector<std::pair<std::string, int>> not_utf8{
    // continuation alone
    {"\x80", 0},
    {"ab\xbf", 2},
    // truncated: at the end, within
    {"\xc3", 0},
    {"a\xe2\x82", 1},
    {"\xf0\x9f\x90", 0},
    {"\xe2\x82 a", 0},
    // overlong
    {"\xc0\xaf", 0},
    {"\xe0\x80\xaf", 0},
    {"\xf0\x80\x80\xaf", 0},
    // surrogates, over U+10FFFF
    {"\xed\xa0\x80", 0},
    {"\xed\xbf\xbf", 0},
    {"\xf4\x90\x80\x80", 0},
    // never a byte of UTF-8
    {"abc\xfe", 3},
    {"\xff", 0},
};

}  // namespace

TEST_CASE("characters: one number a code point, in the order of their bytes") {
  const Tokenizer tokens(Tokens::character, "baß b鳥");
  CHECK(tokens.symbols() == Symbols{" ", "a", "b", "ß", "鳥"});
  CHECK(tokens.encode("abß") == Ids{1, 2, 3});
  CHECK(tokens.decode({3, 0, 1}) == "ß a");
  CHECK(tokens.find("ß") == std::optional<Dim>(3));
  CHECK_FALSE(tokens.find("x").has_value());
  for (const std::string& text : {"ab 鳥ß"s, ""s, "ßß"s})
    CHECK(tokens.decode(tokens.encode(text)) == text);
}

TEST_CASE("characters: a byte order mark, NUL and every line end are characters") {
  const std::string text = "\xEF\xBB\xBF" + "a\0b\r\nc\rd\n\n\xE2\x80\xA8"s;
  const Tokenizer tokens(Tokens::character, text);
  CHECK(tokens.symbols() ==
        Symbols{"\0"s, "\n", "\r", "a", "b", "c", "d", "\xE2\x80\xA8", "\xEF\xBB\xBF"});
  CHECK(tokens.encode(text).front() == 8);
  CHECK(tokens.decode(tokens.encode(text)) == text);
}

TEST_CASE("words: line ends are words, other white space is one space") {
  const Tokenizer tokens(Tokens::word, two_birds);
  CHECK(tokens.symbols() == Symbols{"\n", "birds", "fly", "sometimes", "walk"});
  CHECK(tokens.encode("birds \t walk") == Ids{1, 4});
  CHECK(tokens.decode(tokens.encode(two_birds)) == two_birds);
  CHECK(tokens.decode(tokens.encode("  birds \v fly \r\n\n\f walk ")) == "birds fly\n\nwalk");
  CHECK(Tokenizer(Tokens::word, "a\0b \xff\xfe"s).symbols() == Symbols{"a\0b"s, "\xff\xfe"});
}

TEST_CASE("words: punctuation marks are words of their own, and the text comes back") {
  const std::string text = "\"Walk,\" said (sometimes) the bird; it's 3.14.\nWalk .\n";
  const Tokenizer tokens(Tokens::word, text);
  CHECK(tokens.decode(tokens.encode(text)) == text);
  CHECK(tokens.find("Walk").has_value());
  CHECK(tokens.find("it's").has_value());
  CHECK_FALSE(tokens.find("Walk,").has_value());
  const std::vector<Dim> comma = tokens.encode("Walk,");
  REQUIRE(comma.size() == 2);
  CHECK(tokens.decode({comma[1]}) == ",");
  CHECK(tokens.find(",") == std::optional(comma[1]));
  // "." stands alone and behind a word: two tokens. A mark with other blanks is found too.
  CHECK(tokens.encode("Walk .")[1] != tokens.encode("Walk.")[1]);
  CHECK(tokens.decode(tokens.encode("bird;it's")) == "bird; it's");
  CHECK(refusal<UnknownSymbol>([&] { tokens.encode("Walk?"); }) ==
        "Tokenizer: the word '?' at byte 4 is not among the 16 it has");
}

TEST_CASE("bytes and byte pairs: any bytes come back, learned or not") {
  const Tokenizer bytes(Tokens::byte, "");
  const Tokenizer pairs(Tokens::bpe, two_birds + two_birds + "  two   spaces\r\n", 300);
  CHECK(bytes.size() == 256);
  CHECK(pairs.size() == 256 + static_cast<Dim>(pairs.merges().size()));
  CHECK(pairs.encode(two_birds).size() < two_birds.size() / 2);
  for (const Tokenizer& tokens : {bytes, pairs}) {
    for (std::uint64_t seed = 1; seed <= 2000; ++seed) {
      const std::string text = random_bytes(seed, seed % 67);
      REQUIRE(tokens.decode(tokens.encode(text)) == text);
    }
    for (const std::string& text : {""s, " "s, "   "s, "\n\n birds"s, "birds  "s, " a  b\t\tc "s,
                                    "\0birds\0\0"s, "\xEF\xBB\xBF\r\n\r"s})
      CHECK(tokens.decode(tokens.encode(text)) == text);
    for (const auto& entry : not_utf8)
      CHECK(tokens.decode(tokens.encode(entry.first)) == entry.first);
  }
  CHECK(bytes.encode("a\xff\0"s) == Ids{'a', 255, 0});
}

TEST_CASE("characters: what is not UTF-8 is refused, and the byte named") {
  for (const auto& [text, at] : not_utf8) {
    const std::string message = "Tokenizer: the text is not UTF-8 at byte " + std::to_string(at) +
                                "; tokens of kind byte or bpe take any bytes";
    CHECK(refusal<ValueError>([&, t = text] { Tokenizer(Tokens::character, t); }) == message);
    CHECK(refusal<ValueError>([&, t = text] { require_utf8(t); }) == message);
  }
  CHECK_NOTHROW(require_utf8("aß鳥\xF4\x8F\xBF\xBF"));
}

TEST_CASE("what a tokenizer does not have is named, and shown so that a terminal stays as it is") {
  const Tokenizer words(Tokens::word, two_birds), characters(Tokens::character, two_birds);
  const auto unknown = [](const Tokenizer& tokens, std::string_view text, std::size_t first) {
    return refusal<UnknownSymbol>([&] { tokens.encode(text, first); });
  };
  CHECK(unknown(words, "birds swim", 0) ==
        "Tokenizer: the word 'swim' at byte 6 is not among the 5 it has");
  CHECK(unknown(words, "birds swim", 100) ==
        "Tokenizer: the word 'swim' at byte 106 is not among the 5 it has");
  CHECK(unknown(characters, "b\x1b[2J", 0) ==
        "Tokenizer: the character '\\x1b' at byte 1 is not among the 17 it has");
  CHECK(unknown(characters, "b\xC2\x9b", 0) ==
        "Tokenizer: the character '\\xc2\\x9b' (U+009B) at byte 1 is not among the 17 it has");
  CHECK(unknown(characters, "ß", 0) ==
        "Tokenizer: the character 'ß' (U+00DF) at byte 0 is not among the 17 it has");
  CHECK(unknown(words, "b\xff\0\n"s, 0) ==
        "Tokenizer: the word 'b\\xff\\x00' at byte 0 is not among the 5 it has");
  CHECK(unknown(words, std::string(1000, 'x'), 0) ==
        "Tokenizer: the word '" + std::string(80, 'x') +
            "...' at byte 0 is not among the 5 it has");
  CHECK(refusal<ValueError>([&] {
          characters.encode("b\xff", 10);
        }).starts_with("Tokenizer: the text is not UTF-8 at byte 11"));
  try {
    words.encode("birds swim");
    FAIL_CHECK("it was encoded");
  } catch (const UnknownSymbol& error) {
    CHECK(error.symbol == "swim");
    CHECK(error.at == 6);
  }
  for (const Dim id : {Dim{5}, Dim{-1}})
    CHECK(refusal<ValueError>([&] { words.decode({id}); }) ==
          "Tokenizer: no symbol has number " + std::to_string(id) + "; there are 5");
}

TEST_CASE("what a tokenizer does not have is counted, and left out of a text") {
  const Tokenizer letters(Tokens::character, "abc\n");
  const UnknownSymbols found = letters.unknown_symbols("aüb\nßßca🐦ü");
  CHECK(found.counts == std::map<std::string, Dim>{{"ß", 2}, {"ü", 2}, {"🐦", 1}});
  CHECK(found.unknown == 5);
  CHECK(found.all == 10);
  CHECK(found.first == 1);
  CHECK(found.rest == "ab\nca");
  CHECK(letters.unknown_symbols("").all == 0);
  CHECK(letters.unknown_symbols("abc").counts.empty());
  CHECK(letters.unknown_symbols("üß").rest.empty());
  CHECK_THROWS_AS(letters.unknown_symbols("a\xff"), ValueError);

  const Tokenizer words(Tokens::word, "birds walk, (then) fly. pi is 3.14\n");
  for (const auto& [text, rest] :
       {std::pair{"birds swim, then (swim) fly.\n", "birds  , then ( ) fly.\n"},
        {"swim,walk-fly 3.15 3.14!\n", "    3.14 \n"},
        {"then\r\nbirds", "then\r\nbirds"}}) {
    const UnknownSymbols unknown = words.unknown_symbols(text);
    CHECK(unknown.rest == rest);
    CHECK(static_cast<Dim>(words.encode(unknown.rest).size()) == unknown.all - unknown.unknown);
  }
  CHECK(words.unknown_symbols("walk!").counts == std::map<std::string, Dim>{{"!", 1}});

  const Tokenizer pairs(BytePairs({"a", "b", "ab"}, {{0, 1}}), {{"<|end|>", 3}});
  const UnknownSymbols bytes = pairs.unknown_symbols("xabx<|end|>c\xff");
  CHECK(bytes.counts == std::map<std::string, Dim>{{"c", 1}, {"x", 2}, {"\xff", 1}});
  CHECK(bytes.all == 6);
  CHECK(bytes.unknown == 4);
  CHECK(bytes.first == 0);
  CHECK(bytes.rest == "ab<|end|>");
  CHECK(Tokenizer(Tokens::byte, "a").unknown_symbols("\xff\0"s).counts.empty());
}

TEST_CASE("a tokenizer is made again from its symbols") {
  for (const Tokens kind : {Tokens::character, Tokens::word, Tokens::byte}) {
    const Tokenizer learned(kind, two_birds);
    const Tokenizer again(kind, kind == Tokens::byte ? Symbols{} : learned.symbols());
    CHECK(again.symbols() == learned.symbols());
    CHECK(again.encode(two_birds) == learned.encode(two_birds));
    CHECK(again.decode(again.encode(two_birds)) == two_birds);
    CHECK(tokens_named(to_string(kind)) == kind);
  }
  CHECK(tokens_named("bpe") == Tokens::bpe);
  CHECK(refusal<ValueError>([] { tokens_named("letter"); }) ==
        "Tokens: character, word, byte or bpe: got 'letter'");
}

TEST_CASE("numbers as words: the text of a model whose tokenizer is not known") {
  CHECK(number_tokenizer(1).size() == 1);
  const Tokenizer numbers = number_tokenizer(12);
  CHECK(numbers.size() == 12);
  CHECK(numbers.encode("11 0  7") == Ids{11, 0, 7});
  CHECK(numbers.decode({11, 0, 7}) == "11 0 7");
  CHECK_FALSE(numbers.end_of_text().has_value());
  CHECK(refusal<UnknownSymbol>([&] { numbers.encode("3 12"); }) ==
        "Tokenizer: the word '12' at byte 2 is not among the 12 it has");
  for (const Dim wrong : {Dim{0}, Dim{-1}, most_symbols + 1})
    CHECK(refusal<ValueError>([&] { number_tokenizer(wrong); }) ==
          "number_tokenizer: a vocabulary has 1 to 1000000 tokens: got " + std::to_string(wrong));
}

TEST_CASE("parts that no text could have given are refused") {
  const auto refused = [](Tokens kind, Symbols symbols) {
    return refusal<ValueError>([&] { Tokenizer(kind, symbols); });
  };
  CHECK(refused(Tokens::word, {"a", "b", "a"}) == "Tokenizer: symbols 0 and 2 are the same: 'a'");
  CHECK(refused(Tokens::word, {"a", ""}) == "Tokenizer: symbol 1 is empty");
  CHECK(refused(Tokens::word, {}) == "Tokenizer: there are no symbols");
  CHECK(refused(Tokens::word, {"a b"}) == "Tokenizer: symbol 0 is not one word: got 'a b'");
  CHECK(refused(Tokens::word, {"walk,"}) == "Tokenizer: symbol 0 is not one word: got 'walk,'");
  CHECK(refused(Tokens::character, {"ab"}) == "Tokenizer: symbol 0 is not one character: got 'ab'");
  CHECK(refused(Tokens::character, {"\xff"}) ==
        "Tokenizer: symbol 0 is not one character: got '\\xff'");
  CHECK(refused(Tokens::byte, {"a"}) ==
        "Tokenizer: 1 symbols for tokens of kind byte, which are the 256 bytes");
  CHECK(refused(Tokens::bpe, {"a"}) == "Tokenizer: tokens of kind bpe are given as BytePairs");
  CHECK(refusal<ValueError>([] { Tokenizer(Tokens::character, ""); }) ==
        "Tokenizer: there are no symbols");
  CHECK(refusal<ValueError>([] { Tokenizer(Tokens::word, " \t"); }) ==
        "Tokenizer: there are no symbols");
}
