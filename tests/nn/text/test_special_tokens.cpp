// Special tokens: where they are found in a text, which ones are refused, and their list in files.
#include "nn/text/tokenizer.h"

#include <algorithm>

#include "engine/array.h"
#include "nn/text/tokenizer_json.h"
#include "tests/support/catch.h"
#include "tests/support/refuses.h"

using namespace fledge;
using tests::refuses;

namespace {

using SplitParts = std::vector<std::pair<std::string, Dim>>;

SplitParts split_by(const SpecialTokens& tokens, std::string_view text) {
  SplitParts parts;
  for (const TextPart& part : tokens.split(text)) parts.emplace_back(part.text, part.id);
  return parts;
}

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

}  // namespace

TEST_CASE(
    "special tokens: the leftmost is found first, of those the longest, normalized ones last") {
  const SpecialTokens tokens({{"<|end|>", 7}, {"<|end|>\n", 8}, {"x", 9}});
  CHECK(split_by(tokens, "<|end|>\n<|end|>b") ==
        SplitParts{{"<|end|>\n", 8}, {"<|end|>", 7}, {"b", -1}});
  CHECK(split_by(tokens, "").empty());
  CHECK(split_by(SpecialTokens(), "abc") == SplitParts{{"abc", -1}});
  CHECK(tokens.find("x") == std::optional<Dim>(9));
  CHECK_FALSE(tokens.find("y").has_value());

  Rng rng(3);
  const auto random_text = [&](Dim most) {
    std::string text;
    for (Dim size = 1 + rng.below(most); size > 0; --size) text += "ab\xff"[rng.below(3)];
    return text;
  };
  int found = 0;
  for (int round = 0; round < 2000; ++round) {
    std::vector<SpecialToken> random;
    for (Dim id = 0; id < 1 + round % 8; ++id) {
      const std::string text = random_text(4);
      if (std::none_of(random.begin(), random.end(), [&](auto& t) { return t.text == text; }))
        random.push_back({text, id, rng.below(3) == 0});
    }
    const std::string text = random_text(30);
    SplitParts first, both;
    append_by_definition(text, random, false, first);
    for (const auto& part : first)
      if (part.second >= 0)
        both.push_back(part);
      else
        append_by_definition(part.first, random, true, both);
    REQUIRE(split_by(SpecialTokens(random), text) == both);
    found += static_cast<int>(both.size());
  }
  CHECK(found > 10'000);
}

TEST_CASE("special tokens that are no text, or cannot be told apart, are refused") {
  const auto made = [](std::vector<SpecialToken> tokens) {
    return [tokens] { SpecialTokens all(tokens); };
  };
  CHECK(refuses<ValueError>(made({{"", 3}}), "1 to 1024 bytes", "number 3 has 0"));
  CHECK(refuses<ValueError>(made({{std::string(1025, 'x'), 3}}), "number 3 has 1025"));
  CHECK(refuses<ValueError>(made({{"a", 3}, {"a", 4, true}}), "'a'", "twice"));
  CHECK(refuses<ValueError>(made({{"a", 3}, {"b", 3}}), "two", "number 3"));
  CHECK_NOTHROW(made({{std::string(1024, 'x'), 3}})());
}

TEST_CASE("added tokens: the list comes back, and what it leaves out is false") {
  const std::vector<SpecialToken> tokens{{"<|é|>", 5, false, true}, {" \n", 0, true, false}};
  const std::string text = added_tokens_json(tokens).text();
  CHECK_THAT(text, StartsWith(R"([{"id":5,"content":"\u003c|é|\u003e","single_word":false,)"
                              R"("lstrip":false,"rstrip":false,"normalized":false,)"
                              R"("special":true},)"));
  CHECK(read_added_tokens(read_json(text)) == tokens);
  CHECK(read_added_tokens(read_json(R"([{"id":1,"content":"a"}])")) ==
        std::vector<SpecialToken>{{"a", 1, false, false}});
  for (const char* json : {R"("<s>")", R"({"__type":"AddedToken","content":"<s>","special":true})"})
    CHECK(read_added_token(read_json(json)) == SpecialToken{"<s>"});
}
