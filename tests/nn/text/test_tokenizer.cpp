// Tokenizers: any text comes back, and any tokenizer is saved and read again. Examples are in
// tests/formats/tokens.txt, what is refused in tokenizers.txt.
#include "nn/text/tokenizer.h"

#include <set>

#include "engine/array.h"
#include "nn/text/pieces.h"
#include "nn/text/tokenizer_json.h"
#include "tests/support/catch.h"
#include "tests/support/gpt2_sized.h"
#include "tests/support/processor_time.h"
#include "tests/support/random_tokenizer.h"
#include "tests/support/refuses.h"
#include "tests/support/sanitized.h"

using namespace fledge;
using tests::refuses;

namespace {

using TokenIds = std::vector<Dim>;
using SymbolList = std::vector<std::string>;
using namespace std::string_literals;

std::string random_parts(Rng& rng, const SymbolList& parts, Dim most) {
  std::string text;
  for (Dim count = rng.below(most); count > 0; --count)
    text += parts[static_cast<std::size_t>(rng.below(std::ssize(parts)))];
  return text;
}

/// One space between the words of a line, and none at its ends.
std::string spaced(const std::string& text) {
  std::string result;
  bool is_apart = false;
  for (const char c : text)
    if (c == '\n' || " \t\r\v\f"s.find(c) == std::string::npos) {
      if (is_apart && c != '\n' && !result.empty() && result.back() != '\n') result += ' ';
      result += c;
      is_apart = false;
    } else {
      is_apart = true;
    }
  return result;
}

using SplitParts = std::vector<std::pair<std::string, Dim>>;

// At each place, every token is tried.
void append_by_definition(std::string_view text, const std::vector<SpecialToken>& tokens,
                          bool normalized, SplitParts& parts) {
  std::size_t begin = 0;
  for (std::size_t at = 0; at < text.size();) {
    const SpecialToken* longest = nullptr;
    for (const SpecialToken& token : tokens)
      if (token.normalized == normalized && text.substr(at).starts_with(token.text) &&
          (!longest || token.text.size() > longest->text.size()))
        longest = &token;
    if (longest && at > begin) parts.emplace_back(text.substr(begin, at - begin), -1);
    if (longest) parts.emplace_back(longest->text, longest->id);
    at += longest ? longest->text.size() : 1;
    if (longest) begin = at;
  }
  if (begin < text.size()) parts.emplace_back(text.substr(begin), -1);
}

std::string written(const Tokenizer& tokenizer) { return tokenizer_json(tokenizer).text(); }

std::string refused_json(const std::string& text) {
  return tests::refusal<FormatError>([&] { read_tokenizer(read_json(text)); });
}

}  // namespace

TEST_CASE("any text comes back, and the tokenizer that learned it, from JSON") {
  const SymbolList parts{"a",  "birds", "'", "-",    ".",   ",",        "(",           "\"",
                         "…",  "，",    "9", "!",    " ",   "  ",       "\n",          "\r",
                         "\t", "ß",     "🐦", "\xff", "\0"s, "\xe2\x80", "\xEF\xBB\xBF"};
  int pieces = 0;
  for (std::uint64_t seed = 1; seed <= 500; ++seed) {
    Rng rng(seed);
    const std::string text = "a" + random_parts(rng, parts, 20);
    for (const Tokens kind : {Tokens::character, Tokens::word, Tokens::byte, Tokens::bpe}) {
      CAPTURE(to_string(kind), text);
      CHECK(tokens_named(to_string(kind)) == kind);
      const bool is_utf8 = first_not_utf8(text) == std::string::npos;
      if (kind == Tokens::character && !is_utf8) continue;
      const Tokenizer tokens(kind, text, 270);
      const std::string expected = kind == Tokens::word ? spaced(text) : text;
      REQUIRE(tokens.decode(tokens.encode(text)) == expected);
      if (kind == Tokens::word)
        for (const std::string& symbol : tokens.symbols())
          pieces += symbol != "\n" && is_word_piece(symbol);
      if (kind == Tokens::word && !is_utf8) {
        CHECK_THROWS_AS(written(tokens), ValueError);  // JSON cannot hold it
        continue;
      }
      const Tokenizer again = read_tokenizer(read_json(written(tokens)));
      REQUIRE(tests::equal_tokenizers(again, tokens));
      REQUIRE(again.encode(text) == tokens.encode(text));
      REQUIRE(written(again) == written(tokens));
    }
  }
  CHECK(pieces > 1500);
  for (const char* wrong :
       {"", "\t", "\t\t", "\ta", "walk,", "\twalk", "walk\t", "a\tb", "()", "\t\t,"})
    CHECK_FALSE(is_word_piece(wrong));
}

TEST_CASE("bytes and byte pairs: any bytes come back, learned or not") {
  const std::string learned = "birds sometimes walk\nbirds sometimes fly\n  two   spaces\r\n";
  BytePairs merged = BytePairs::learn(learned + learned, 300);
  const auto end = static_cast<Dim>(merged.symbols().size());
  const Tokenizer bytes(Tokens::byte, ""), special(merged, {{"<|endoftext|>", end}});
  CHECK(special.encode(learned).size() < learned.size() / 2);
  SymbolList parts{"birds", " ", "<|endoftext|>", "<|end", "é", "'s", "\xEF\xBB\xBF"};
  for (int byte = 0; byte < 256; ++byte) parts.emplace_back(1, static_cast<char>(byte));
  for (int i = 0; i < 30; ++i) parts.insert(parts.end(), parts.begin(), parts.begin() + 7);
  Rng rng(5);
  for (int round = 0; round < (testing::sanitized ? 10'000 : 100'000); ++round) {
    const std::string text = random_parts(rng, parts, 12);
    if (special.decode(special.encode(text)) != text) FAIL("round " << round);
    if (round % 50 == 0 && bytes.decode(bytes.encode(text)) != text) FAIL("bytes, round " << round);
  }
}

TEST_CASE("byte characters: each byte has one of its own, which no terminal obeys") {
  std::string characters, bytes;
  std::set<char32_t> different;
  for (int byte = 0; byte < 256; ++byte) {
    bytes += static_cast<char>(byte);
    const std::string character = characters_of_bytes(bytes.substr(bytes.size() - 1));
    const CodePoint point = code_point_at(character, 0);
    CHECK((point.bytes == character.size() && !is_misleading(point.value)));
    different.insert(point.value);
    characters += character;
  }
  CHECK(different.size() == 256);
  CHECK(bytes_of_characters(characters) == bytes);
}

TEST_CASE("special tokens: the leftmost comes first, of those the longest; normalized ones last") {
  Rng rng(3);
  std::size_t found = 0;
  for (int round = 0; round < 2000; ++round) {
    const std::vector<SpecialToken> random = tests::random_special_tokens(rng, 0, round % 8);
    const std::string text = random_parts(rng, {"a", "b", "\xff"}, 30);
    SplitParts first, both, parts;
    append_by_definition(text, random, false, first);
    for (const auto& part : first)
      if (part.second >= 0)
        both.push_back(part);
      else
        append_by_definition(part.first, random, true, both);
    for (const TextPart& part : SpecialTokens(random).split(text))
      parts.emplace_back(part.text, part.id);
    REQUIRE(parts == both);
    found += both.size();
  }
  CHECK(found > 10'000);
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
  CHECK_FALSE(Tokenizer(Tokens::bpe, "ab").end_of_text().has_value());
  Tokenizer bytes(BytePairs(), {{"<|endoftext|>", 256, false, true}});
  CHECK(bytes.end_of_text() == std::optional<Dim>(256));
  bytes.limit_to(200), bytes.limit_to(250);
  CHECK((!bytes.end_of_text().has_value() && bytes.size() == 200));
}

TEST_CASE("bpe: numbers may be without text, and a model's table smaller or larger") {
  Tokenizer tokens(BytePairs({"a", "", "b", "ab", "", "", "", ""}, {{0, 2}}), {{"<pad>", 5}});
  CHECK(tokens.without_text(3) == TokenIds{1});
  CHECK(tokens.without_text(8) == TokenIds{1, 4, 6, 7});
  tokens.limit_to(9);
  CHECK(tokens.size() == 8);
  CHECK(tokens.decode({7, 2, 6, 0}) == "ba");
  CHECK(refuses<ValueError>([&] { tokens.decode({8}); }, "number 8", "there are 8"));
  Tokenizer words(Tokens::word, "a b");
  CHECK_THROWS_AS(words.limit_to(1), ValueError);
  tokens.limit_to(3);
  CHECK(tokens.without_text(5) == TokenIds{1, 3, 4});
}

TEST_CASE("an unknown symbol is named with its place in a longer text; the rest is known") {
  const SymbolList parts{"a", "b", "ab", "ß", "c", "<p>", "\n", "(", ",", " "};
  for (const Tokenizer& tokens :
       {Tokenizer(Tokens::character, "ab,\n ("), Tokenizer(Tokens::word, "a b, (ab\n"),
        Tokenizer(BytePairs({"a", "b", "ab", " ", ",", "\n"}, {{0, 1}}), {{"<p>", 6}})})
    for (std::uint64_t seed = 1; seed <= 500; ++seed) {
      Rng rng(seed);
      const std::string text = random_parts(rng, parts, 12);
      CAPTURE(to_string(tokens.kind()), text);
      const UnknownSymbols found = tokens.unknown_symbols(text);
      Dim counted = 0;
      for (const auto& entry : found.counts) counted += entry.second;
      CHECK(counted == found.unknown);
      if (tokens.kind() != Tokens::bpe)  // a pair may be merged where a symbol was left out
        CHECK(std::ssize(tokens.encode(found.rest)) == found.all - found.unknown);
      CHECK(tokens.unknown_symbols(found.rest).unknown == 0);
      try {
        tokens.encode(text, 100);
        CHECK(found.unknown == 0);
      } catch (const UnknownSymbol& error) {
        CHECK(error.at == 100 + found.first);
        CHECK(text.substr(found.first, error.symbol.size()) == error.symbol);
        CHECK(found.counts.contains(error.symbol));
      }
    }
  CHECK(refuses<ValueError>([] { require_utf8("b\xff", 10); }, "UTF-8 at byte 11"));
}

TEST_CASE("numbers alone are a tokenizer, and parts that do not belong together are refused") {
  CHECK(number_tokenizer(1).size() == 1);
  const Tokenizer numbers = number_tokenizer(12);
  CHECK(numbers.encode("11 0  7") == TokenIds{11, 0, 7});
  CHECK(numbers.decode({11, 0, 7}) == "11 0 7");
  CHECK_FALSE(numbers.end_of_text().has_value());
  for (const Dim wrong : {Dim{0}, Dim{-1}, most_symbols + 1})
    CHECK(refuses<ValueError>([&] { number_tokenizer(wrong); }, "number_tokenizer", "1000000",
                              "got " + std::to_string(wrong)));
  CHECK(refuses<ValueError>([] { tokens_named("letter"); }, "bpe", "'letter'"));
  CHECK(refuses<ValueError>([] { Tokenizer(Tokens::byte, SymbolList{"a"}); }, "1 symbols", "byte"));
  CHECK(refuses<ValueError>([] { Tokenizer(Tokens::bpe, SymbolList{"a"}); }, "bpe", "BytePairs"));
  for (const Tokens kind : {Tokens::character, Tokens::word})
    CHECK(refuses<ValueError>([&] { Tokenizer(kind, kind == Tokens::word ? " \t" : ""); },
                              "no symbols"));
  for (const SpecialToken& wrong : {SpecialToken{"b", -1}, SpecialToken{"b", most_symbols}})
    CHECK(refuses<ValueError>([&] { Tokenizer(BytePairs({"a"}), {wrong}); }, "'b'",
                              "number " + std::to_string(wrong.id)));
  const std::vector<SpecialToken> too_long{{std::string(1025, 'x'), 3}};
  CHECK(refuses<ValueError>([&] { SpecialTokens{too_long}; }, "number 3 has 1025"));
  CHECK_NOTHROW(SpecialTokens({{std::string(1024, 'x'), 3}}));
}

TEST_CASE("tokenizer json: byte pairs with any numbers, special tokens and numbers without text") {
  const Tokenizer before(BytePairs({"ab", "", "b", "a", " ", "aba", "", "", ""}, {{0, 3}, {3, 2}}),
                         {{"<é>", 7, true, false}, {"a", 3}});
  CHECK(written(before) ==
        R"({"kind":"bpe","rule":"gpt2","vocab":["ab","","b","a","Ġ","aba","","",""],)"
        R"("merges":[[0,3],[3,2]],"added_tokens":[)"
        R"({"id":3,"content":"a","single_word":false,"lstrip":false,"rstrip":false,)"
        R"("normalized":false,"special":true},)"
        R"({"id":7,"content":"\u003cé\u003e","single_word":false,"lstrip":false,"rstrip":false,)"
        R"("normalized":true,"special":false}]})");
  CHECK(written(Tokenizer(Tokens::word, "a, b\n")) ==
        R"({"kind":"word","rule":"punctuation","symbols":["\u0009,","\u000a","a","b"]})");
  CHECK(written(Tokenizer(Tokens::byte, "b")) == R"({"kind":"byte"})");
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    Rng rng(seed);
    const Tokenizer random = tests::random_tokenizer(rng);
    CHECK(tests::equal_tokenizers(read_tokenizer(read_json(written(random))), random));
  }
  for (const char* json : {R"("<s>")", R"({"__type":"AddedToken","content":"<s>","special":true})"})
    CHECK(read_added_token(read_json(json)) == SpecialToken{"<s>"});
}

TEST_CASE("tokenizer json: a vocabulary of GPT-2's size is read in less than a second") {
  const Tokenizer before = tests::gpt2_sized_tokenizer();
  const std::string text = written(before);
  std::optional<Tokenizer> read;
  CHECK(testing::processor_seconds([&] { read = read_tokenizer(read_json(text)); }) <
        (testing::sanitized ? 20 : 1));
  CHECK(tests::equal_tokenizers(read.value(), before));
}

TEST_CASE("tokenizer json: lists that no training writes end at their limit") {
  const auto list = [](std::string begin, const std::string& item, Dim count) {
    for (Dim i = 1; i < count; ++i) begin += "," + item;
    return begin + "]}";
  };
  const std::string symbols = R"({"kind":"bpe","rule":"gpt2","merges":[],"vocab":["a")",
                    merges = R"({"kind":"bpe","rule":"gpt2","vocab":["a","aa"],"merges":[[0,0])";
  if (!testing::sanitized)
    CHECK(read_tokenizer(read_json(list(symbols, "\"\"", most_symbols))).size() == most_symbols);
  CHECK_THAT(refused_json(list(symbols, "\"\"", most_symbols + 1)),
             ContainsSubstring("vocab[1000000] ") && EndsWith("1,000,000"));
  CHECK_THAT(refused_json(list(merges, "[0,0]", most_symbols + 1)),
             ContainsSubstring("merges[1000000] ") && EndsWith("1,000,000"));
}
