// Tokenizers come back from JSON as they were. What is refused is in tests/formats/tokenizers.txt.
#include "nn/text/tokenizer_json.h"

#include "tests/support/catch.h"
#include "tests/support/gpt2_sized.h"
#include "tests/support/processor_time.h"
#include "tests/support/refusal.h"
#include "tests/support/sanitized.h"

using namespace fledge;

namespace {

std::string written(const Tokenizer& tokenizer) { return tokenizer_json(tokenizer).text(); }

std::string refused_json(const std::string& text) {
  return tests::refusal<FormatError>([&] { read_tokenizer(read_json(text)); });
}

void check_same_tokenizer(const Tokenizer& after, const Tokenizer& before) {
  CHECK(after.kind() == before.kind());
  CHECK(after.size() == before.size());
  CHECK(after.symbols() == before.symbols());
  CHECK(after.merges() == before.merges());
  CHECK(after.special_tokens() == before.special_tokens());
}

}  // namespace

TEST_CASE("tokenizer json: every kind comes back") {
  const std::string text = "birds \"walk\" <\xC3\xA9>\n\\ birds walk and walk\n";
  for (const Tokens kind : {Tokens::character, Tokens::word, Tokens::byte, Tokens::bpe}) {
    const Tokenizer before(kind, text, 270);
    const Tokenizer after = read_tokenizer(read_json(written(before)));
    check_same_tokenizer(after, before);
    CHECK(after.encode(text) == before.encode(text));
    CHECK(written(after) == written(before));
  }
  CHECK(written(Tokenizer(Tokens::word, "b a\n")) ==
        R"({"kind":"word","rule":"punctuation","symbols":["\u000a","a","b"]})");
  CHECK(written(Tokenizer(Tokens::word, "a, b")) ==
        R"({"kind":"word","rule":"punctuation","symbols":["\u0009,","a","b"]})");
  CHECK(written(Tokenizer(Tokens::byte, "b")) == R"({"kind":"byte"})");
  CHECK_THROWS_AS(written(Tokenizer(Tokens::word, "a\xFF b")), ValueError);  // JSON cannot hold it
}

TEST_CASE("tokenizer json: byte pairs with any numbers, special tokens and numbers without text") {
  const BytePairs pairs({"ab", "", "b", "a", " ", "aba"}, {{0, 3}, {3, 2}});
  Tokenizer before(pairs, {{"<é>", 7, true, false}, {"a", 3}});
  before.extend_to(9);
  const std::string text = written(before);
  CHECK(text ==
        R"({"kind":"bpe","rule":"gpt2","vocab":["ab","","b","a","Ġ","aba","","",""],)"
        R"("merges":[[0,3],[3,2]],"added_tokens":[)"
        R"({"id":3,"content":"a","single_word":false,"lstrip":false,"rstrip":false,)"
        R"("normalized":false,"special":true},)"
        R"({"id":7,"content":"\u003cé\u003e","single_word":false,"lstrip":false,"rstrip":false,)"
        R"("normalized":true,"special":false}]})");
  const Tokenizer after = read_tokenizer(read_json(text));
  CHECK(written(after) == text);
  CHECK(after.size() == 9);
  check_same_tokenizer(after, before);
  CHECK(after.encode("<é>b b") == before.encode("<é>b b"));
}

TEST_CASE("tokenizer json: a vocabulary of GPT-2's size is read in less than a second") {
  const Tokenizer before = tests::gpt2_sized_tokenizer();
  const std::string text = written(before);
  std::optional<Tokenizer> read;
  CHECK(testing::processor_seconds([&] { read = read_tokenizer(read_json(text)); }) <
        (testing::sanitized ? 20 : 1));
  check_same_tokenizer(read.value(), before);
}

TEST_CASE("tokenizer json: lists that no training writes end at their limit") {
  if (!testing::sanitized) {  // half a minute there; the next list runs the same code
    std::string many = R"({"kind":"word","rule":"punctuation","symbols":["0")";
    for (Dim i = 1; i < most_symbols; ++i) many += ",\"" + std::to_string(i) + "\"";
    CHECK(read_tokenizer(read_json(many + "]}")).size() == most_symbols);
    CHECK_THAT(refused_json(many + ",\"x\"]}"),
               ContainsSubstring("symbols[1000000] ") && EndsWith("1,000,000"));
  }
  std::string symbols = R"({"kind":"bpe","rule":"gpt2","merges":[],"vocab":["a")";
  for (Dim i = 1; i < most_symbols; ++i) symbols += ",\"\"";
  if (!testing::sanitized) CHECK(read_tokenizer(read_json(symbols + "]}")).size() == most_symbols);
  CHECK_THAT(refused_json(symbols + ",\"\"]}"),
             ContainsSubstring("vocab[1000000] ") && EndsWith("1,000,000"));
  std::string merges = R"({"kind":"bpe","rule":"gpt2","vocab":["a","aa"],"merges":[[0,0])";
  for (Dim i = 1; i <= most_symbols; ++i) merges += ",[0,0]";
  CHECK_THAT(refused_json(merges + "]}"),
             ContainsSubstring("merges[1000000] ") && EndsWith("1,000,000"));
}
