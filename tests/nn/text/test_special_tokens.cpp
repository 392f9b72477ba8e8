#include "nn/text/special_tokens.h"

#include <algorithm>

#include "engine/array.h"
#include "engine/base/errors.h"
#include "tests/support/catch.h"
#include "tests/support/refusal.h"

using namespace fledge;
using tests::refusal;

namespace {

using Parts = std::vector<std::pair<std::string, Dim>>;

Parts split(const SpecialTokens& tokens, std::string_view text) {
  Parts parts;
  for (const TextPart& part : tokens.split(text)) parts.emplace_back(part.text, part.id);
  return parts;
}

// At each place, every token is tried.
void append_by_definition(std::string_view text, const std::vector<SpecialToken>& tokens,
                          bool normalized, Parts& parts) {
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

TEST_CASE("special tokens are found in a text: the leftmost first, of those the longest") {
  const SpecialTokens tokens({{"<|end|>", 7}, {"<|end|>\n", 8}, {"x", 9}});
  CHECK(split(tokens, "a<|end|>b") == Parts{{"a", -1}, {"<|end|>", 7}, {"b", -1}});
  CHECK(split(tokens, "<|end|>\n<|end|>") == Parts{{"<|end|>\n", 8}, {"<|end|>", 7}});
  CHECK(split(tokens, "<|end|") == Parts{{"<|end|", -1}});
  CHECK(split(tokens, "xx") == Parts{{"x", 9}, {"x", 9}});
  CHECK(split(tokens, "").empty());
  CHECK(split(SpecialTokens(), "abc") == Parts{{"abc", -1}});
  CHECK(SpecialTokens({{"ab", 1}, {"bcd", 2}}).split("abcd").size() == 2);
  CHECK(tokens.find("x") == std::optional<Dim>(9));
  CHECK_FALSE(tokens.find("y").has_value());
}

TEST_CASE("special tokens that are normalized are found in what the others leave") {
  CHECK(split(SpecialTokens({{"ab", 1, true}, {"bc", 2}}), "abc") == Parts{{"a", -1}, {"bc", 2}});
  CHECK(split(SpecialTokens({{"ab", 1}, {"bc", 2}}), "abc") == Parts{{"ab", 1}, {"c", -1}});
}

TEST_CASE("special tokens: random tokens in random texts are where the definition finds them") {
  Rng rng(3);
  const auto random_text = [&](Dim most) {
    std::string text;
    for (Dim size = 1 + rng.below(most); size > 0; --size) text += "ab\xff"[rng.below(3)];
    return text;
  };
  int found = 0;
  for (int round = 0; round < 2000; ++round) {
    std::vector<SpecialToken> tokens;
    for (Dim id = 0; id < 1 + round % 8; ++id) {
      const std::string text = random_text(4);
      if (std::none_of(tokens.begin(), tokens.end(), [&](auto& t) { return t.text == text; }))
        tokens.push_back({text, id, rng.below(3) == 0});
    }
    const std::string text = random_text(30);
    Parts first, both;
    append_by_definition(text, tokens, false, first);
    for (const auto& part : first)
      if (part.second >= 0)
        both.push_back(part);
      else
        append_by_definition(part.first, tokens, true, both);
    REQUIRE(split(SpecialTokens(tokens), text) == both);
    found += static_cast<int>(both.size());
  }
  CHECK(found > 10'000);
}

TEST_CASE("special tokens that cannot be told apart are refused") {
  const auto refused = [](std::vector<SpecialToken> tokens) {
    return refusal<ValueError>([&] { SpecialTokens all(std::move(tokens)); });
  };
  CHECK(refused({{"", 3}}) == "SpecialTokens: a special token has 1 to 1024 bytes: number 3 has 0");
  CHECK(refused({{std::string(1025, 'x'), 3}}) ==
        "SpecialTokens: a special token has 1 to 1024 bytes: number 3 has 1025");
  CHECK(refused({{"a", 3}, {"a", 4, true}}) ==
        "SpecialTokens: the special token 'a' is there twice");
  CHECK(refused({{"a", 3}, {"b", 3}}) == "SpecialTokens: two special tokens have number 3");
}
