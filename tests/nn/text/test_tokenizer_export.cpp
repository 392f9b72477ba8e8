// The files for Hugging Face's libraries. The library "tokenizers" 0.2x, version of 2025, read all of
// them and gave the same numbers and texts.
#include "nn/text/tokenizer_files.h"

#include "nn/io/files.h"
#include "tests/support/catch.h"
#include "tests/support/json_reader.h"

using namespace fledge;

// A character that is not in the vocabulary must be an error, not another character: unk_token is
// none of its words.
TEST_CASE("tokenizer export: the files of byte pairs and of characters are those of exported.txt") {
  const BytePairs pairs({"a", "b", "", "ab", " "}, {{0, 1}});
  std::string text;
  for (const auto& [kind, tokenizer] :
       {std::pair{"byte pairs", Tokenizer(pairs, {{"<|endoftext|>", 5}})},
        {"characters", Tokenizer(Tokens::character, "b\na 鳥")}})
    for (const auto& [name, contents] : tokenizer_files(tokenizer, 64))
      text.append("-- ").append(kind).append(": " + name + "\n" + contents);
  CHECK(text == read_file(FLEDGE_SOURCE_DIR "/tests/nn/text/exported.txt"));
}

TEST_CASE("tokenizer export: bytes are byte pairs without merges") {
  const auto files = tokenizer_files(Tokenizer(Tokens::byte, ""), 64);
  REQUIRE(files.size() == 2);
  const auto json = testing::strict_json(files[0].second);
  CHECK(json["model"]["merges"].array().empty());
  CHECK(json["model"]["vocab"].object().size() == 256);
  CHECK(json["model"]["vocab"]["Ġ"].number() == 32);
  CHECK(files[1].second.find("eos_token") == std::string::npos);
}

TEST_CASE("tokenizer export: what cannot be expressed exactly gives no file") {
  for (const Tokenizer& tokenizer :
       {Tokenizer(Tokens::word, "a, b"), Tokenizer(BytePairs({"\xe9"}), {{"é", 1}}),
        Tokenizer(BytePairs({"a"}), {{"\xff", 1}})})
    CHECK(tokenizer_files(tokenizer, 64).empty());
  CHECK(tokenizer_files(Tokenizer(BytePairs({"a"}), {{"é", 1}}), 64).size() == 4);
}
