// From text to token numbers and back, for tokens of every kind.
#include "nn/text/tokenizer.h"

#include "engine/array.h"
#include "tests/support/catch.h"
#include "tests/support/refuses.h"
#include "tests/support/sanitized.h"

using namespace fledge;
using tests::refuses;

namespace {

using TokenIds = std::vector<Dim>;
using SymbolList = std::vector<std::string>;
using SymbolCounts = std::map<std::string, Dim>;
using namespace std::string_literals;

const std::string two_birds = "birds sometimes walk\nbirds sometimes fly\n";

// "<|endoftext|>" has the number after the learned symbols.
Tokenizer with_end_of_text(std::string_view text, Dim symbols) {
  BytePairs pairs = BytePairs::learn(text, symbols);
  const auto id = static_cast<Dim>(pairs.symbols().size());
  return Tokenizer(std::move(pairs), {{"<|endoftext|>", id}});
}

// Numbers 0 … 3 and 5; 1 has no text, 3 is merged, 5 is special.
Tokenizer with_gaps() {
  return Tokenizer(BytePairs({"a", "", "b", "ab"}, {{0, 2}}), {{"<pad>", 5}});
}

/// Checks that encode() refuses this symbol at this byte, and names both.
void check_unknown(const Tokenizer& tokens, std::string_view text, const std::string& symbol,
                   std::size_t at, const std::string& shown, std::size_t first = 0) {
  CHECK(refuses<UnknownSymbol>([&] { tokens.encode(text, first); }, "Tokenizer: the ",
                               shown + " at byte " + std::to_string(at) + " ",
                               std::to_string(tokens.size())));
  try {
    tokens.encode(text, first);
  } catch (const UnknownSymbol& error) {
    CHECK(error.symbol == symbol);
    CHECK(error.at == at);
  }
}

}  // namespace

TEST_CASE("characters: one number a code point, in the order of their bytes") {
  const std::string text = "\xEF\xBB\xBF" + "a\0b\r\nc\rd\n\n\xE2\x80\xA8ß鳥"s;
  const Tokenizer tokens(Tokens::character, text);
  CHECK(tokens.symbols() == SymbolList{"\0"s, "\n", "\r", "a", "b", "c", "d", "ß", "\xE2\x80\xA8",
                                       "鳥", "\xEF\xBB\xBF"});
  CHECK(tokens.encode("abß") == TokenIds{3, 4, 7});
  CHECK(tokens.decode({7, 0, 3}) == "ß\0a"s);
  for (const std::string& same : {text, ""s, "ßß"s})
    CHECK(tokens.decode(tokens.encode(same)) == same);
  CHECK(tokens.find("ß") == std::optional<Dim>(7));
  CHECK_FALSE(tokens.find("x").has_value());
  CHECK(refuses<ValueError>([&] { tokens.encode("b\xff", 10); }, "UTF-8 at byte 11"));
  CHECK_NOTHROW(require_utf8("aß鳥\xF4\x8F\xBF\xBF"));
}

TEST_CASE("words: line ends are words, other white space is one space, marks are words too") {
  const Tokenizer tokens(Tokens::word, two_birds);
  CHECK(tokens.symbols() == SymbolList{"\n", "birds", "fly", "sometimes", "walk"});
  CHECK(tokens.encode("birds \t walk") == TokenIds{1, 4});
  CHECK(tokens.decode(tokens.encode(two_birds)) == two_birds);
  CHECK(tokens.decode(tokens.encode("  birds \v fly \r\n\n\f walk ")) == "birds fly\n\nwalk");
  CHECK(Tokenizer(Tokens::word, "a\0b \xff\xfe"s).symbols() == SymbolList{"a\0b"s, "\xff\xfe"});

  const std::string text = "\"Walk,\" said (sometimes) the bird; it's 3.14.\nWalk .\n";
  const Tokenizer marks(Tokens::word, text);
  CHECK(marks.decode(marks.encode(text)) == text);
  for (const char* word : {"Walk", "it's", ","}) CHECK(marks.find(word).has_value());
  CHECK_FALSE(marks.find("Walk,").has_value());
  const TokenIds comma = marks.encode("Walk,");
  REQUIRE(comma.size() == 2);
  CHECK(marks.decode({comma[1]}) == ",");
  CHECK(marks.find(",") == std::optional(comma[1]));
  // "." stands alone and behind a word: two tokens. A mark with other blanks is found too.
  CHECK(marks.encode("Walk .")[1] != marks.encode("Walk.")[1]);
  CHECK(marks.decode(marks.encode("bird;it's")) == "bird; it's");
  check_unknown(marks, "Walk?", "?", 4, "'?'");
}

TEST_CASE("bytes and byte pairs: any bytes come back, learned or not") {
  const std::string learned = two_birds + two_birds + "  two   spaces\r\n";
  const Tokenizer bytes(Tokens::byte, ""), pairs(Tokens::bpe, learned, 300),
      special = with_end_of_text(learned, 300);
  CHECK(bytes.size() == 256);
  CHECK(bytes.encode("a\xff\0"s) == TokenIds{'a', 255, 0});
  CHECK(pairs.size() == 256 + static_cast<Dim>(pairs.merges().size()));
  CHECK(pairs.encode(two_birds).size() < two_birds.size() / 2);
  const std::vector<std::string> words{"birds", " ",  "<|endoftext|>", "<|end",        "é", "\xff",
                                       "'s",    "\n", "\0"s,           "\xEF\xBB\xBF", "\r"};
  Rng rng(5);
  for (int round = 0; round < (testing::sanitized ? 10'000 : 100'000); ++round) {
    std::string text;
    for (Dim parts = rng.below(12); parts > 0; --parts)
      if (rng.below(2) == 0)
        text += static_cast<char>(rng.below(256));
      else
        text += words[static_cast<std::size_t>(rng.below(std::ssize(words)))];
    if (special.decode(special.encode(text)) != text) FAIL("round " << round);
    if (round % 50 > 0) continue;
    if (bytes.decode(bytes.encode(text)) != text) FAIL("bytes, round " << round);
    if (pairs.decode(pairs.encode(text)) != text) FAIL("pairs, round " << round);
  }
}

TEST_CASE("bpe: special tokens are found before the text is cut, and decode to their text") {
  const Tokenizer tokens = with_end_of_text(two_birds + two_birds, 270);
  const Dim end = tokens.size() - 1;
  CHECK(tokens.end_of_text() == std::optional(end));
  CHECK(tokens.find("<|endoftext|>") == std::optional(end));
  CHECK(tokens.find("\n") == std::optional<Dim>('\n'));
  CHECK(tokens.find("birds") == tokens.pairs().find("birds"));
  TokenIds expected = tokens.encode("birds");
  expected.push_back(end);
  for (const Dim id : tokens.encode("birds ")) expected.push_back(id);
  CHECK(tokens.encode("birds<|endoftext|>birds ") == expected);
  CHECK(tokens.decode(expected) == "birds<|endoftext|>birds ");
  CHECK(tokens.encode("<|endoftext|").size() == 12);
  CHECK_FALSE(Tokenizer(Tokens::bpe, two_birds).end_of_text().has_value());
  // One may have the number of a symbol, or be far from the others.
  const Tokenizer far(BytePairs({"a", "b", "ab"}, {{0, 1}}), {{"ab", 2}, {"b b", 5}, {"b", 4}});
  CHECK(far.symbols() == SymbolList{"a", "b", "ab", "", "b", "b b"});
  CHECK(far.encode("abaab") == TokenIds{2, 0, 2});
  CHECK(far.encode("b bb") == TokenIds{5, 4});
  CHECK(far.find("b") == std::optional<Dim>(4));
  CHECK(far.decode({0, 1, 2, 3, 4, 5}) == "ababbb b");
}

TEST_CASE("bpe: the tokens that begin and end texts are those of the files, if they have a row") {
  Tokenizer tokens(BytePairs({"a", "b"}), {{"<|endoftext|>", 2}, {"<s>", 3}, {"</s>", 4}});
  const auto ends = [&] {
    TokenIds ids;
    for (Dim id = 0; id < 9; ++id)
      if (tokens.ends_text(id)) ids.push_back(id);
    return ids;
  };
  CHECK(ends() == TokenIds{2});
  CHECK(tokens.begin_of_text() == std::optional<Dim>(2));
  tokens.set_marks({3, {7, 4, 1}, {}});
  CHECK(ends() == TokenIds{1, 4, 7});
  CHECK(tokens.end_of_text() == std::optional<Dim>(4));
  CHECK(tokens.begin_of_text() == std::optional<Dim>(3));
  tokens.limit_to(3);
  CHECK(tokens.end_of_text() == std::optional<Dim>(1));
  CHECK(tokens.begin_of_text() == std::optional<Dim>(1));
}

TEST_CASE(
    "bpe: numbers without text decode to nothing; those beyond the model's table are unknown") {
  Tokenizer tokens = with_gaps();
  CHECK(tokens.decode({0, 1, 2, 4}) == "ab");
  CHECK_FALSE(tokens.find("").has_value());
  CHECK(tokens.without_text(3) == TokenIds{1});
  CHECK(tokens.without_text(8) == TokenIds{1, 4, 6, 7});
  tokens.limit_to(9);
  CHECK(tokens.size() == 6);
  tokens.extend_to(8);
  CHECK(tokens.size() == 8);
  CHECK(tokens.decode({7, 2, 6, 0}) == "ba");
  CHECK(refuses<ValueError>([&] { tokens.decode({8}); }, "number 8", "there are 8"));
  CHECK(refuses<ValueError>([&] { tokens.extend_to(7); }, "8", "got 7"));
  CHECK(refuses<ValueError>([&] { tokens.extend_to(most_symbols + 1); }, "got 1000001"));
  Tokenizer words(Tokens::word, "a b");
  CHECK(refuses<ValueError>([&] { words.extend_to(5); }, "bpe", "word"));
  CHECK_THROWS_AS(words.limit_to(1), ValueError);

  tokens.limit_to(3);
  CHECK(tokens.size() == 3);
  CHECK(tokens.without_text(5) == TokenIds{1, 3, 4});
  CHECK(tokens.encode("ba") == TokenIds{2, 0});
  for (const char* limited : {"ab", "<pad>"}) CHECK_FALSE(tokens.find(limited).has_value());
  // The first is refused, whichever it is.
  check_unknown(tokens, "baab", "ab", 12, "token 'ab'", 10);
  check_unknown(tokens, "bba<pad>", "<pad>", 13, "token '<pad>'", 10);
  check_unknown(tokens, "babc", "ab", 1, "token 'ab'");
  check_unknown(tokens, "bacab", "c", 2, "byte 'c'");
  check_unknown(tokens, "b<pad>c", "<pad>", 1, "token '<pad>'");
  check_unknown(Tokenizer(BytePairs({"a", "b"})), "ab\xff", "\xff", 2, "byte '\\xff'");
}

TEST_CASE("what a tokenizer does not have is named, and shown so that a terminal stays as it is") {
  const Tokenizer words(Tokens::word, two_birds), characters(Tokens::character, two_birds);
  check_unknown(words, "birds swim", "swim", 6, "word 'swim'");
  check_unknown(words, "birds swim", "swim", 106, "word 'swim'", 100);
  check_unknown(characters, "b\x1b[2J", "\x1b", 1, "character '\\x1b'");
  check_unknown(characters, "b\xC2\x9b", "\xC2\x9b", 1, "'\\xc2\\x9b' (U+009B)");
  check_unknown(characters, "ß", "ß", 0, "'ß' (U+00DF)");
  check_unknown(words, "b\xff\0\n"s, "b\xff\0"s, 0, "'b\\xff\\x00'");
  check_unknown(words, std::string(1000, 'x'), std::string(1000, 'x'), 0,
                "'" + std::string(80, 'x') + "...'");
  for (const Dim id : {Dim{5}, Dim{-1}})
    CHECK(refuses<ValueError>([&] { words.decode({id}); }, "number " + std::to_string(id),
                              "there are 5"));
}

TEST_CASE("what a tokenizer does not have is counted, and left out of a text") {
  const Tokenizer letters(Tokens::character, "abc\n"),
      pairs(BytePairs({"a", "b", "ab"}, {{0, 1}}), {{"<|end|>", 3}});
  Tokenizer limited = with_gaps();
  limited.limit_to(3);
  struct Row {
    Tokenizer tokens;
    std::string text;
    SymbolCounts counts;
    Dim unknown, all;
    std::size_t first;
    std::string rest;
  };
  for (const Row& row : std::vector<Row>{
           {letters, "aüb\nßßca🐦ü", {{"ß", 2}, {"ü", 2}, {"🐦", 1}}, 5, 10, 1, "ab\nca"},
           {letters, "", {}, 0, 0, 0, ""},
           {letters, "abc", {}, 0, 3, 0, "abc"},
           {letters, "üß", {{"ü", 1}, {"ß", 1}}, 2, 2, 0, ""},
           {pairs, "xabx<|end|>c\xff", {{"c", 1}, {"x", 2}, {"\xff", 1}}, 4, 6, 0, "ab<|end|>"},
           {limited, "bac<pad>abb<pad>", {{"c", 1}, {"<pad>", 2}, {"ab", 1}}, 4, 7, 2, "bab"},
           {limited, "ba", {}, 0, 2, 0, "ba"},
           {Tokenizer(Tokens::byte, "a"), "\xff\0"s, {}, 0, 2, 0, "\xff\0"s}}) {
    CAPTURE(row.text);
    const UnknownSymbols found = row.tokens.unknown_symbols(row.text);
    CHECK(found.counts == row.counts);
    CHECK(found.unknown == row.unknown);
    CHECK(found.all == row.all);
    CHECK(found.first == row.first);
    CHECK(found.rest == row.rest);
  }
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
  CHECK(words.unknown_symbols("walk!").counts == SymbolCounts{{"!", 1}});
}

TEST_CASE("a tokenizer is made again from its symbols, or from numbers alone") {
  for (const Tokens kind : {Tokens::character, Tokens::word, Tokens::byte}) {
    const Tokenizer learned(kind, two_birds);
    const Tokenizer again(kind, kind == Tokens::byte ? SymbolList{} : learned.symbols());
    CHECK(again.symbols() == learned.symbols());
    CHECK(again.encode(two_birds) == learned.encode(two_birds));
    CHECK(again.decode(again.encode(two_birds)) == two_birds);
    CHECK(tokens_named(to_string(kind)) == kind);
  }
  CHECK(tokens_named("bpe") == Tokens::bpe);
  CHECK(refuses<ValueError>([] { tokens_named("letter"); }, "bpe", "'letter'"));
  CHECK(number_tokenizer(1).size() == 1);
  const Tokenizer numbers = number_tokenizer(12);
  CHECK(numbers.encode("11 0  7") == TokenIds{11, 0, 7});
  CHECK(numbers.decode({11, 0, 7}) == "11 0 7");
  CHECK_FALSE(numbers.end_of_text().has_value());
  check_unknown(numbers, "3 12", "12", 2, "word '12'");
  for (const Dim wrong : {Dim{0}, Dim{-1}, most_symbols + 1})
    CHECK(refuses<ValueError>([&] { number_tokenizer(wrong); }, "number_tokenizer", "1000000",
                              "got " + std::to_string(wrong)));
}

TEST_CASE("parts that no text could have given, or that do not belong together, are refused") {
  const auto made = [](Tokens kind, SymbolList symbols) {
    return [=] { Tokenizer(kind, symbols); };
  };
  using S = SymbolList;
  CHECK(refuses<ValueError>(made(Tokens::word, S{"a", "b", "a"}), "symbols 0 and 2", "'a'"));
  CHECK(refuses<ValueError>(made(Tokens::word, S{"a", ""}), "symbol 1", "empty"));
  CHECK(refuses<ValueError>(made(Tokens::word, S{}), "no symbols"));
  CHECK(refuses<ValueError>(made(Tokens::word, S{"a b"}), "symbol 0", "'a b'"));
  CHECK(refuses<ValueError>(made(Tokens::word, S{"walk,"}), "symbol 0", "'walk,'"));
  CHECK(refuses<ValueError>(made(Tokens::character, S{"ab"}), "symbol 0", "'ab'"));
  CHECK(refuses<ValueError>(made(Tokens::character, S{"\xff"}), "symbol 0", "'\\xff'"));
  CHECK(refuses<ValueError>(made(Tokens::byte, S{"a"}), "1 symbols", "byte"));
  CHECK(refuses<ValueError>(made(Tokens::bpe, S{"a"}), "bpe", "BytePairs"));
  CHECK(refuses<ValueError>([] { Tokenizer(Tokens::character, ""); }, "no symbols"));
  CHECK(refuses<ValueError>([] { Tokenizer(Tokens::word, " \t"); }, "no symbols"));
  const auto with = [](SymbolList symbols, std::vector<SpecialToken> special) {
    return [=] { Tokenizer tokens(BytePairs(symbols), special); };
  };
  CHECK(refuses<ValueError>(with({}, {}), "no symbols"));
  CHECK(refuses<ValueError>(with({"a"}, {{"b", 0}}), "'b'", "number 0", "'a'"));
  CHECK(refuses<ValueError>(with({"a"}, {{"b", -1}}), "'b'", "number -1"));
  CHECK(refuses<ValueError>(with({"a"}, {{"b", most_symbols}}), "'b'", "number 1000000"));
  CHECK(refuses<ValueError>(with({"a"}, {{"b", 1}, {"b", 2}}), "'b'", "twice"));
}
