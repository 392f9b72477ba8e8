// Reads what Hugging Face's libraries write, damaged files too. Files with one error each are in
// tests/formats/tokenizers.txt.
#include "nn/text/tokenizer_files.h"

#include <unistd.h>

#include "tests/support/catch.h"
#include "tests/support/folder.h"
#include "tests/support/gpt2_sized.h"
#include "tests/support/processor_time.h"
#include "tests/support/refuses.h"
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

TEST_CASE(
    "tokenizer files: a folder without files has no tokenizer, one with half of them is refused") {
  CHECK_FALSE(read_folder({}).has_value());
  CHECK_FALSE(read_folder({{"tokenizer_config.json", "{}"}}).has_value());
  using tests::refuses;
  CHECK(refuses<FileError>(
      [] {
        read_folder({{"vocab.json", R"({"a":0})"}});
      },
      "merges.txt'", "no such file"));
  CHECK(refuses<FileError>(
      [] {
        read_folder({{"merges.txt", ""}});
      },
      "vocab.json'", "no such file"));
  for (const std::string name : {"tokenizer.json", "vocab.json", "merges.txt"}) {
    const testing::Folder folder;
    write_file(folder / "vocab.json", R"({"a":0})");
    write_file(folder / name, "{}");
    REQUIRE(truncate((folder / name).c_str(), (64 << 20) + 1) == 0);
    CHECK_THROWS_AS(read_tokenizer_files(Folder(folder.path())), FileError);
  }
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

TEST_CASE("tokenizer files: damaged files are accepted or refused with a place, and nothing else") {
  const std::string text = "birds sometimes walk\nbirds sometimes fly\n";
  const auto files = tokenizer_files(Tokenizer(Tokens::bpe, text + text, 262), 64);
  const std::vector<std::string> parts{"\"",      "{",    "}",   "[",    "]",       ",",
                                       ":",       "null", "1",   "true", "\"a b\"", "a b\n",
                                       "\\u0100", " ",    "Ġ a", "\n"};
  Rng rng(6);
  const auto below = [&](std::size_t n) {
    return static_cast<std::size_t>(rng.below(static_cast<Dim>(n)));
  };
  const std::string birds = "birds fly<|endoftext|>\n";
  int accepted = 0, refused = 0;
  const int rounds = testing::sanitized ? 300 : 3000;
  for (int round = 0; round < rounds; ++round) {
    auto damaged = files;
    if (round % 2 == 1) damaged.erase(damaged.begin());
    std::string& file = round % 2 == 0    ? damaged[0].second
                        : round % 10 == 1 ? damaged[1].second
                                          : damaged[2].second;
    for (std::size_t times = 1 + below(3); times > 0; --times) {
      const std::size_t at = below(file.size()), length = below(20);
      switch (below(4)) {
        case 0:
          file[at] = static_cast<char>(below(256));
          break;
        case 1:
          file.erase(at, length);
          break;
        case 2:
          file.insert(at, parts[below(parts.size())]);
          break;
        default:
          file.insert(below(file.size()), file.substr(at, length));
      }
    }
    const testing::Folder folder;
    for (const auto& [name, contents] : damaged) write_file(folder / name, contents);
    try {
      const Tokenizer tokens = read_tokenizer_files(Folder(folder.path())).value();
      ++accepted;
      if (tokens.decode(tokens.encode(birds)) != birds) FAIL("round " << round);
    } catch (const FormatError& error) {
      CHECK_THAT(error.what(), ContainsSubstring(folder.path()));
      ++refused;
    } catch (const UnknownSymbol&) {  // a byte lost its symbol
    }
  }
  CHECK(accepted > rounds / 60);
  CHECK(refused > rounds / 30);
}
