// The files for Hugging Face's libraries. The library "tokenizers" 0.2x, version of 2025, read all of
// them and gave the same numbers and texts.
#include "nn/text/tokenizer_export.h"

#include <map>

#include "engine/base/errors.h"
#include "tests/support/catch.h"
#include "tests/support/json_reader.h"

using namespace fledge;
using testing::strict_json;

namespace {

std::map<std::string, std::string> files_of(const Tokenizer& tokenizer) {
  std::map<std::string, std::string> files;
  for (const auto& [name, text] : tokenizer_files(tokenizer, 64)) files.emplace(name, text);
  return files;
}

testing::StrictJson json_file(const Tokenizer& tokenizer) {
  return strict_json(files_of(tokenizer).at("tokenizer.json"));
}

}  // namespace

TEST_CASE("tokenizer export: byte pairs have four files") {
  const BytePairs pairs({"a", "b", "", "ab", " "}, {{0, 1}});
  const auto files = files_of(Tokenizer(pairs, {{"<|endoftext|>", 5}}));
  CHECK(files.size() == 4);
  CHECK(files.at("merges.txt") == "#version: 0.2\na b\n");
  CHECK(files.at("vocab.json") == R"({"a":0,"b":1,"ab":3,"Ġ":4,"\u003c|endoftext|\u003e":5})"
                                  "\n");
  CHECK(files.at("tokenizer_config.json") ==
        "{\n  \"tokenizer_class\": \"PreTrainedTokenizerFast\",\n  \"model_max_length\": 64,\n"
        "  \"clean_up_tokenization_spaces\": false,\n"
        "  \"eos_token\": \"\\u003c|endoftext|\\u003e\"\n}\n");
  const auto json = strict_json(files.at("tokenizer.json"));
  CHECK(json["version"].string() == "1.0");
  for (const char* key : {"truncation", "padding", "normalizer"}) CHECK(json[key].is_null());
  for (const char* key : {"pre_tokenizer", "post_processor", "decoder"})
    CHECK(json[key]["type"].string() == "ByteLevel");
  CHECK_FALSE(json["pre_tokenizer"]["add_prefix_space"].boolean());
  CHECK(json["pre_tokenizer"]["use_regex"].boolean());
  CHECK(json["added_tokens"][0]["content"].string() == "<|endoftext|>");
  CHECK(json["added_tokens"][0]["id"].number() == 5);
  CHECK(json["model"]["type"].string() == "BPE");
  CHECK(json["model"]["merges"][0].string() == "a b");
  CHECK(json["model"]["vocab"].object().size() == 5);
  for (const char* key : {"dropout", "unk_token"}) CHECK(json["model"][key].is_null());
  for (const char* key : {"fuse_unk", "byte_fallback", "ignore_merges"})
    CHECK_FALSE(json["model"][key].boolean());
}

TEST_CASE("tokenizer export: bytes are byte pairs without merges") {
  const Tokenizer bytes(Tokens::byte, "");
  CHECK(files_of(bytes).size() == 2);
  const auto json = json_file(bytes);
  CHECK(json["model"]["merges"].array().empty());
  CHECK(json["model"]["vocab"].object().size() == 256);
  CHECK(json["model"]["vocab"]["Ġ"].number() == 32);
  CHECK(files_of(bytes).at("tokenizer_config.json").find("eos_token") == std::string::npos);
}

TEST_CASE("tokenizer export: characters are words of one character") {
  const auto json = json_file(Tokenizer(Tokens::character, "b\na 鳥"));
  CHECK(json["pre_tokenizer"]["type"].string() == "Split");
  CHECK(json["pre_tokenizer"]["pattern"]["Regex"].string() == "[\\s\\S]");
  CHECK(json["pre_tokenizer"]["behavior"].string() == "Isolated");
  CHECK_FALSE(json["pre_tokenizer"]["invert"].boolean());
  CHECK(json["post_processor"].is_null());
  CHECK(json["decoder"]["type"].string() == "Fuse");
  CHECK(json["model"]["type"].string() == "WordLevel");
  CHECK(json["model"]["vocab"]["\n"].number() == 0);
  CHECK(json["model"]["vocab"]["鳥"].number() == 4);
  // A character that is not in the vocabulary must be an error, not another character.
  CHECK_FALSE(json["model"]["vocab"].contains(json["model"]["unk_token"].string()));
}

TEST_CASE("tokenizer export: what cannot be expressed exactly gives no file") {
  for (const Tokenizer& tokenizer :
       {Tokenizer(Tokens::word, "a, b"), Tokenizer(BytePairs({"\xe9"}), {{"é", 1}}),
        Tokenizer(BytePairs({"a"}), {{"\xff", 1}})})
    CHECK(tokenizer_files(tokenizer, 64).empty());
  CHECK(tokenizer_files(Tokenizer(BytePairs({"a"}), {{"é", 1}}), 64).size() == 4);
}
