// Reads what Hugging Face's libraries write. What is refused is in test_tokenizer_files_refused.cpp.
#include "nn/text/tokenizer_files.h"

#include "nn/text/tokenizer_export.h"
#include "tests/support/catch.h"
#include "tests/support/folder.h"
#include "tests/support/gpt2_sized.h"
#include "tests/support/processor_time.h"
#include "tests/support/sanitized.h"

using namespace fledge;
using testing::processor_seconds;
using testing::write_file;

namespace {

using Ids = std::vector<Dim>;

// The layout of GPT-2's own tokenizer.json: the model has no type, the merges are strings.
const std::string small_file = R"({
  "version": "1.0", "truncation": null, "padding": null,
  "added_tokens": [{"id": 6, "special": true, "content": "<|endoftext|>", "single_word": false,
                    "lstrip": false, "rstrip": false, "normalized": true}],
  "normalizer": null,
  "pre_tokenizer": {"type": "ByteLevel", "add_prefix_space": false, "trim_offsets": true},
  "post_processor": {"type": "ByteLevel", "add_prefix_space": true, "trim_offsets": false},
  "decoder": {"type": "ByteLevel", "add_prefix_space": true, "trim_offsets": true},
  "model": {"dropout": null, "unk_token": null, "continuing_subword_prefix": "",
            "end_of_word_suffix": "", "fuse_unk": false,
            "vocab": {"a": 3, "b": 1, "Ġ": 0, "ab": 5, "Ġab": 2, "<|endoftext|>": 6},
            "merges": ["a b", "Ġ ab"]}})";

std::optional<Tokenizer> read_folder(
    const std::vector<std::pair<std::string, std::string>>& files) {
  const testing::Folder folder;
  for (const auto& [name, text] : files) write_file(folder / name, text);
  return read_tokenizer_files(Folder(folder.path()));
}

void check_equal(const Tokenizer& a, const Tokenizer& b) {
  CHECK(a.kind() == b.kind());
  CHECK(a.symbols() == b.symbols());
  CHECK(a.merges() == b.merges());
  CHECK(a.special_tokens() == b.special_tokens());
}

}  // namespace

TEST_CASE("tokenizer files: tokenizer.json as GPT-2 has it") {
  const Tokenizer tokens = read_folder({{"tokenizer.json", small_file}}).value();
  CHECK(tokens.kind() == Tokens::bpe);
  CHECK(tokens.symbols() ==
        std::vector<std::string>{" ", "b", " ab", "a", "", "ab", "<|endoftext|>"});
  CHECK(tokens.merges() == std::vector<Merge>{{3, 1}, {0, 5}});
  CHECK(tokens.end_of_text() == std::optional<Dim>(6));
  CHECK(tokens.encode("ab ab<|endoftext|>ba b") == Ids{5, 2, 6, 1, 3, 0, 1});
}

TEST_CASE("tokenizer files: merges as pairs, and keys that newer versions write") {
  std::string text = small_file;
  const auto replace = [&text](const std::string& from, const std::string& to) {
    REQUIRE(text.find(from) != std::string::npos);
    text.replace(text.find(from), from.size(), to);
  };
  replace(R"(["a b", "Ġ ab"])", R"([["a", "b"], ["Ġ", "ab"]])");
  replace(R"("fuse_unk": false,)",
          R"("fuse_unk": false, "byte_fallback": false, "ignore_merges": false, "type": "BPE",)");
  replace(R"("trim_offsets": true})", R"("trim_offsets": true, "use_regex": true})");
  check_equal(read_folder({{"tokenizer.json", text}}).value(),
              read_folder({{"tokenizer.json", small_file}}).value());
}

TEST_CASE("tokenizer files: vocab.json and merges.txt") {
  const std::string vocabulary = R"({"a":3,"b":1,"Ġ":0,"ab":5,"Ġab":2,"<|endoftext|>":6})";
  const Tokenizer expected = read_folder({{"tokenizer.json", small_file}}).value();
  for (const char* merges : {"#version: 0.2\na b\nĠ ab\n", "a b\nĠ ab\n", "a b\nĠ ab",
                             "#version: 0.2\r\na b\r\nĠ ab\r\n"}) {
    const Tokenizer tokens =
        read_folder({{"vocab.json", vocabulary}, {"merges.txt", merges}}).value();
    CHECK(tokens.symbols() == expected.symbols());
    CHECK(tokens.merges() == expected.merges());
    CHECK(tokens.end_of_text() == std::optional<Dim>(6));
  }
  const Tokenizer without = read_folder({{"vocab.json", R"({"a":0})"}, {"merges.txt", ""}}).value();
  CHECK_FALSE(without.end_of_text().has_value());
  CHECK(without.size() == 1);
}

TEST_CASE("tokenizer files: tokenizer.json is preferred; a folder without files has no tokenizer") {
  CHECK_FALSE(read_folder({}).has_value());
  CHECK_FALSE(read_folder({{"tokenizer_config.json", "{}"}}).has_value());
  CHECK(read_folder({{"tokenizer.json", small_file}, {"vocab.json", "x"}}).has_value());
  const std::string config =
      R"({"add_prefix_space":false,"add_bos_token":false,"model_max_length":1024})";
  CHECK(read_folder({{"tokenizer.json", small_file}, {"tokenizer_config.json", config}}));
}

// PreTrainedTokenizerBase._from_pretrained() and PreTrainedTokenizerFast.__init__() of transformers 4.
TEST_CASE("tokenizer files: special tokens of the files beside the vocabulary") {
  const std::string decoder = R"("added_tokens_decoder":{"6":{"content":"<s>","special":true}})",
                    by_name = R"({"bos_token":"<s>","eos_token":{"content":"<s>","lstrip":false}})";
  struct Row {
    const char* file;
    std::string text;
    Ids ids;  // of "ab<s><p>"
  };
  const Ids cut{5, 7, 8, 9, 7, 10, 9}, special{5, 6, 7, 10, 9};
  for (const Row& row :
       {Row{"other.json", "{}", cut}, Row{"special_tokens_map.json", by_name, special},
        Row{"special_tokens_map.json", R"({"additional_special_tokens":["<s>"]})", special},
        Row{"tokenizer_config.json", R"({"unk_token":"<s>","pad_token":null})", special},
        Row{"tokenizer_config.json", "{" + decoder + "}", special},
        Row{"added_tokens.json", R"({"<s>":6})", special}, Row{"added_tokens.json", "{}", cut},
        // Not in the vocabulary: the next number, or the one that is given.
        Row{"special_tokens_map.json", R"({"bos_token":"<s>","pad_token":"<p>"})", {5, 6, 11}},
        Row{"added_tokens.json", R"({"<p>":12})", {5, 7, 8, 9, 12}}}) {
    INFO(row.file << ": " << row.text);
    const std::string vocabulary =
        R"("a":3,"b":1,"Ġ":0,"ab":5,"Ġab":2,"<s>":6,"<":7,"s":8,">":9,"p":10)";
    CHECK(read_folder({{"vocab.json", "{" + vocabulary + "}"},
                       {"merges.txt", "a b\nĠ ab\n"},
                       {row.file, row.text}})
              .value()
              .encode("ab<s><p>") == row.ids);
    std::string text = small_file;  // without its own special token
    const std::size_t begin = text.find("[{\"id\""), old = text.find(R"("a": 3)");
    text.replace(old, text.find('}', old) - old, vocabulary);
    text.replace(begin, text.find(']') + 1 - begin, "[]");
    CHECK(
        read_folder({{"tokenizer.json", text}, {row.file, row.text}}).value().encode("ab<s><p>") ==
        row.ids);
  }
  const auto refused = [](const char* file, const std::string& text) {
    try {
      read_folder({{"tokenizer.json", small_file}, {file, text}});
    } catch (const FormatError& error) {
      return std::string(error.what());
    }
    return std::string("read");
  };
  for (const auto& [file, text, problem] :
       {std::tuple{"tokenizer_config.json", R"({"added_tokens_decoder":{"x":{"content":"a"}}})",
                   "must have a number from 0 to 999999 as its key"},
        {"tokenizer_config.json", R"({"added_tokens_decoder":{"7":{"content":"a","lstrip":true}}})",
         "added_tokens_decoder.7.lstrip must be false"},
        {"special_tokens_map.json", R"({"mask_token":{"content":"<m>","lstrip":true}})",
         "mask_token.lstrip must be false"},
        {"special_tokens_map.json", R"({"pad_token":""})", "a special token has 1 to 1024 bytes"},
        {"added_tokens.json", R"({"<p>":5})", "the special token '<p>' has number 5"},
        {"added_tokens.json", "[]", "must be an object"}})
    CHECK_THAT(refused(file, text), ContainsSubstring(problem));
}

TEST_CASE("tokenizer files: a text without unknown bytes may have a token for them") {
  BytePairs pairs = BytePairs::learn("birds birds", 258);
  std::string text = tokenizer_files(Tokenizer(std::move(pairs)), 64)[0].second;
  const std::string key = R"("unk_token": null)";
  text.replace(text.find(key), key.size(), R"("unk_token": "!")");
  CHECK(read_folder({{"tokenizer.json", text}}).has_value());
}

TEST_CASE("tokenizer files: what is written is read back as it was") {
  const std::string text = "birds sometimes walk\nbirds don't <fly> é鳥\n";
  BytePairs pairs = BytePairs::learn(text + text, 300);
  const auto size = static_cast<Dim>(pairs.symbols().size());
  const Tokenizer special(pairs, {{"<|endoftext|>", size + 3},
                                  {" é\n", size, true, false},
                                  {"é«", size + 1},
                                  {"birds", *pairs.find("birds")}});
  for (const Tokenizer& tokens :
       {Tokenizer(Tokens::bpe, text + text, 300), Tokenizer(Tokens::byte, ""), special}) {
    auto files = tokenizer_files(tokens, 64);
    check_equal(read_folder(files).value(), tokens);
    if (tokens.kind() == Tokens::byte) continue;
    files.erase(files.begin());  // tokenizer.json
    if (tokens.special_tokens().empty()) check_equal(read_folder(files).value(), tokens);
  }
}

TEST_CASE("tokenizer files: a vocabulary of GPT-2's size, and a megabyte of text") {
  const double most_seconds = testing::sanitized ? 20 : 1;
  const Tokenizer before = tests::gpt2_sized_tokenizer();
  CHECK(before.size() == 50'257);
  auto files = tokenizer_files(before, 1024);
  std::optional<Tokenizer> after;
  CHECK(processor_seconds([&] { after = read_folder(files); }) < most_seconds);
  check_equal(after.value(), before);
  files.erase(files.begin());
  CHECK(processor_seconds([&] { after = read_folder(files); }) < most_seconds);
  check_equal(after.value(), before);

  Rng rng(4);
  std::string text;
  while (text.size() < 1'000'000) {
    for (Dim letters = rng.below(9); letters >= 0; --letters)
      text += static_cast<char>('a' + rng.below(26));
    text += rng.below(50) == 0 ? "<|endoftext|>\n" : " ";
  }
  Ids ids;
  CHECK(processor_seconds([&] { ids = before.encode(text); }) < most_seconds);
  CHECK(before.decode(ids) == text);
}
