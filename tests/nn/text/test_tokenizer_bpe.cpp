// Tokens of kind bpe: special tokens, numbers without text, bytes without a symbol, any bytes.
#include "engine/array.h"
#include "nn/text/tokenizer.h"
#include "tests/support/catch.h"
#include "tests/support/refusal.h"
#include "tests/support/sanitized.h"

using namespace fledge;
using tests::refusal;

namespace {

using Ids = std::vector<Dim>;
using namespace std::string_literals;

const std::string bird_lines = "birds sometimes walk\nbirds sometimes fly\n";

// "<|endoftext|>" has the number after the learned symbols.
Tokenizer with_end_of_text(std::string_view text, Dim symbols) {
  BytePairs pairs = BytePairs::learn(text, symbols);
  const auto id = static_cast<Dim>(pairs.symbols().size());
  return Tokenizer(std::move(pairs), {{"<|endoftext|>", id}});
}

}  // namespace

TEST_CASE("bpe: special tokens are found before the text is cut, and decode to their text") {
  const Tokenizer tokens = with_end_of_text(bird_lines + bird_lines, 270);
  const Dim end = tokens.size() - 1;
  CHECK(tokens.end_of_text() == std::optional(end));
  CHECK(tokens.find("<|endoftext|>") == std::optional(end));
  CHECK(tokens.find("\n") == std::optional<Dim>('\n'));
  CHECK(tokens.find("birds") == tokens.pairs().find("birds"));
  Ids expected = tokens.encode("birds");
  expected.push_back(end);
  for (const Dim id : tokens.encode("birds ")) expected.push_back(id);
  CHECK(tokens.encode("birds<|endoftext|>birds ") == expected);
  CHECK(tokens.decode(expected) == "birds<|endoftext|>birds ");
  CHECK(tokens.encode("<|endoftext|><|endoftext|>") == Ids{end, end});
  CHECK(tokens.encode("<|endoftext|").size() == 12);
  CHECK_FALSE(Tokenizer(Tokens::bpe, bird_lines).end_of_text().has_value());
}

TEST_CASE("bpe: a special token may have the number of a symbol, or be far from the others") {
  const BytePairs pairs({"a", "b", "ab"}, {{0, 1}});
  const Tokenizer tokens(pairs, {{"ab", 2}, {"b b", 5}, {"b", 4}});
  CHECK(tokens.size() == 6);
  CHECK(tokens.symbols() == std::vector<std::string>{"a", "b", "ab", "", "b", "b b"});
  CHECK(tokens.encode("abaab") == Ids{2, 0, 2});
  CHECK(tokens.encode("b bb") == Ids{5, 4});
  CHECK(tokens.find("b") == std::optional<Dim>(4));
  CHECK(tokens.decode({0, 1, 2, 3, 4, 5}) == "ababbb b");
}

TEST_CASE("bpe: the tokens that begin and end texts are those of the files, if they have a row") {
  Tokenizer tokens(BytePairs({"a", "b"}), {{"<|endoftext|>", 2}, {"<s>", 3}, {"</s>", 4}});
  const auto ends = [&] {
    Ids ids;
    for (Dim id = 0; id < 9; ++id)
      if (tokens.ends_text(id)) ids.push_back(id);
    return ids;
  };
  CHECK(ends() == Ids{2});
  CHECK(tokens.begin_of_text() == std::optional<Dim>(2));
  tokens.set_marks({3, {7, 4, 1}, {}});
  CHECK(ends() == Ids{1, 4, 7});
  CHECK(tokens.end_of_text() == std::optional<Dim>(4));
  CHECK(tokens.begin_of_text() == std::optional<Dim>(3));
  tokens.limit_to(3);
  CHECK(tokens.end_of_text() == std::optional<Dim>(1));
  CHECK(tokens.begin_of_text() == std::optional<Dim>(1));
}

TEST_CASE("bpe: ids without text, and ids beyond the table of the model") {
  Tokenizer tokens(BytePairs({"a", "", "b", "ab"}, {{0, 2}}), {{"<pad>", 5}});
  CHECK(tokens.without_text(3) == Ids{1});
  CHECK(tokens.without_text(8) == Ids{1, 4, 6, 7});
  tokens.limit_to(9);
  CHECK(tokens.size() == 6);
  tokens.limit_to(3);
  CHECK(tokens.size() == 3);
  CHECK(tokens.without_text(5) == Ids{1, 3, 4});
  CHECK(tokens.encode("ba") == Ids{2, 0});
  CHECK_FALSE(tokens.find("ab").has_value());
  CHECK_FALSE(tokens.find("<pad>").has_value());
  for (const auto& [text, symbol, at] :
       {std::tuple{"baab", "ab", 2}, std::tuple{"bba<pad>", "<pad>", 3}}) {
    try {
      tokens.encode(text, 10);
      FAIL("encoded " << text);
    } catch (const UnknownSymbol& error) {
      CHECK(error.symbol == symbol);
      CHECK(error.at == static_cast<std::size_t>(10 + at));
    }
  }
  CHECK_THROWS_AS(Tokenizer(Tokens::word, "a b").limit_to(1), ValueError);
}

TEST_CASE("bpe: what encode() refuses is what is unknown: bytes, and tokens beyond the limit") {
  Tokenizer tokens(BytePairs({"a", "", "b", "ab"}, {{0, 2}}), {{"<pad>", 5}});
  tokens.limit_to(3);
  const std::string text = "bac<pad>abb<pad>";
  const UnknownSymbols found = tokens.unknown_symbols(text);
  CHECK(found.counts == std::map<std::string, Dim>{{"c", 1}, {"<pad>", 2}, {"ab", 1}});
  CHECK(found.unknown == 4);
  CHECK(found.all == 7);
  CHECK(found.first == 2);
  CHECK(found.rest == "bab");
  CHECK(tokens.unknown_symbols("ba").unknown == 0);
  const auto refused = [&](const char* wrong) {
    return refusal<UnknownSymbol>([&] { tokens.encode(wrong); });
  };
  // The first is refused, whichever it is.
  for (const auto& [wrong, sentence] : {std::pair{"babc", "the token 'ab' at byte 1"},
                                        {"bacab", "the byte 'c' at byte 2"},
                                        {"b<pad>c", "the token '<pad>' at byte 1"}})
    CHECK(refused(wrong) == "Tokenizer: " + std::string(sentence) + " is not among the 3 it has");
}

TEST_CASE("bpe: numbers without text decode to nothing") {
  Tokenizer tokens(BytePairs({"a", "", "b"}));
  CHECK(tokens.size() == 3);
  CHECK(tokens.decode({0, 1, 2}) == "ab");
  CHECK_FALSE(tokens.find("").has_value());
  tokens.extend_to(5);
  CHECK(tokens.size() == 5);
  CHECK(tokens.decode({4, 2, 3, 0}) == "ba");
  CHECK(tokens.encode("ab") == Ids{0, 2});
  CHECK(refusal<ValueError>([&] { tokens.decode({5}); }) ==
        "Tokenizer: no symbol has number 5; there are 5");
  CHECK(refusal<ValueError>([&] { tokens.extend_to(4); }) ==
        "Tokenizer: there are 5 symbols already, and at most 1000000: got 4");
  CHECK_THAT(refusal<ValueError>([&] { tokens.extend_to(most_symbols + 1); }),
             EndsWith("got 1000001"));
  Tokenizer words(Tokens::word, "a b");
  CHECK(refusal<ValueError>([&] { words.extend_to(5); }) ==
        "Tokenizer: only tokens of kind bpe can have numbers without text: got kind word");
}

TEST_CASE("bpe: a byte without a symbol is named with its place") {
  const Tokenizer tokens(BytePairs({"a", "b"}), {{"<c>", 2}});
  CHECK(tokens.encode("a<c>b") == Ids{0, 2, 1});
  CHECK(refusal<UnknownSymbol>([&] { tokens.encode("a<c>bc", 10); }) ==
        "Tokenizer: the byte 'c' at byte 15 is not among the 3 it has");
  try {
    tokens.encode("ab\xff");
    FAIL_CHECK("it was encoded");
  } catch (const UnknownSymbol& error) {
    CHECK(error.symbol == "\xff");
    CHECK(error.at == 2);
  }
}

TEST_CASE("bpe: parts that do not belong together are refused") {
  const auto refused = [](std::vector<std::string> symbols, std::vector<SpecialToken> special) {
    return refusal<ValueError>([&] { Tokenizer tokens(BytePairs(symbols), special); });
  };
  CHECK(refused({}, {}) == "Tokenizer: there are no symbols");
  CHECK(refused({"a"}, {{"b", 0}}) ==
        "Tokenizer: the special token 'b' has number 0, which is that of 'a'");
  CHECK(refused({"a"}, {{"b", -1}}) ==
        "Tokenizer: the special token 'b' has number -1; numbers are 0 to 999999");
  CHECK(refused({"a"}, {{"b", most_symbols}}) ==
        "Tokenizer: the special token 'b' has number 1000000; numbers are 0 to 999999");
  CHECK(refused({"a"}, {{"b", 1}, {"b", 2}}) ==
        "SpecialTokens: the special token 'b' is there twice");
}

TEST_CASE("bpe: 100,000 strings of any bytes come back") {
  const Tokenizer tokens = with_end_of_text(bird_lines + bird_lines + "  two   spaces\r\n", 300);
  Rng rng(5);
  const std::vector<std::string> words{"birds", " ", "<|endoftext|>", "<|end", "é", "\xff", "'s"};
  std::string text;
  for (int round = 0; round < (testing::sanitized ? 10'000 : 100'000); ++round) {
    text.clear();
    for (Dim parts = rng.below(12); parts > 0; --parts)
      if (rng.below(2) == 0)
        text += static_cast<char>(rng.below(256));
      else
        text += words[static_cast<std::size_t>(rng.below(std::ssize(words)))];
    if (tokens.decode(tokens.encode(text)) != text) FAIL("round " << round);
  }
  SUCCEED();
}
