// Tokenizers as the files of Hugging Face's libraries, damaged files too. Files with one error each
// are in tests/formats/tokenizers.txt, what the files of other programs mean in tokens.txt.
#include "nn/text/tokenizer_files.h"

#include <unistd.h>

#include "tests/support/catch.h"
#include "tests/support/folder.h"
#include "tests/support/gpt2_sized.h"
#include "tests/support/json_reader.h"
#include "tests/support/processor_time.h"
#include "tests/support/random_tokenizer.h"
#include "tests/support/refuses.h"
#include "tests/support/sanitized.h"

using namespace fledge;
using testing::processor_seconds;
using testing::write_file;
using tests::equal_tokenizers;

namespace {

using Files = std::vector<std::pair<std::string, std::string>>;

std::optional<Tokenizer> read_folder(const Files& files) {
  const testing::Folder folder;
  for (const auto& [name, text] : files) write_file(folder / name, text);
  return read_tokenizer_files(Folder(folder.path()));
}

}  // namespace

TEST_CASE("tokenizer files: a folder without any has no tokenizer, one with half is refused") {
  CHECK_FALSE(read_folder({}).has_value());
  CHECK_FALSE(read_folder({{"tokenizer_config.json", "{}"}}).has_value());
  for (const auto& [name, text, missing] :
       {std::array{"vocab.json", R"({"a":0})", "merges.txt'"}, {"merges.txt", "", "vocab.json'"}}) {
    const Files files{{name, text}};
    CHECK(tests::refuses<FileError>([&] { read_folder(files); }, missing, "no such file"));
  }
  for (const std::string name : {"tokenizer.json", "vocab.json", "merges.txt"}) {
    const testing::Folder folder;
    write_file(folder / "vocab.json", R"({"a":0})");
    write_file(folder / name, "{}");
    REQUIRE(truncate((folder / name).c_str(), (64 << 20) + 1) == 0);
    CHECK_THROWS_AS(read_tokenizer_files(Folder(folder.path())), FileError);
  }
}

// The library "tokenizers" 0.2x, version of 2025, read these files and gave the same numbers and
// texts. A character that is not in the vocabulary must be an error, not another character:
// unk_token is none of its words.
TEST_CASE("tokenizer files: those of byte pairs and of characters are those of exported.txt") {
  const BytePairs pairs({"a", "b", "", "ab", " "}, {{0, 1}});
  std::string text;
  for (const auto& [kind, tokenizer] :
       {std::pair{"byte pairs", Tokenizer(pairs, {{"<|endoftext|>", 5}})},
        {"characters", Tokenizer(Tokens::character, "b\na 鳥")}})
    for (const auto& [name, contents] : tokenizer_files(tokenizer, 64))
      text.append("-- ").append(kind).append(": " + name + "\n" + contents);
  CHECK(text == read_file(FLEDGE_SOURCE_DIR "/tests/nn/text/exported.txt"));
  const Files bytes = tokenizer_files(Tokenizer(Tokens::byte, ""), 64);
  REQUIRE(bytes.size() == 2);
  const auto model = testing::strict_json(bytes[0].second)["model"];
  CHECK((model["merges"].array().empty() && model["vocab"].object().size() == 256));
  CHECK(model["vocab"]["Ġ"].number() == 32);
  CHECK(bytes[1].second.find("eos_token") == std::string::npos);
  for (const Tokenizer& inexact :
       {Tokenizer(Tokens::word, "a, b"), Tokenizer(BytePairs({"\xe9"}), {{"é", 1}}),
        Tokenizer(BytePairs({"a"}), {{"\xff", 1}})})
    CHECK(tokenizer_files(inexact, 64).empty());
  CHECK(tokenizer_files(Tokenizer(BytePairs({"a"}), {{"é", 1}}), 64).size() == 4);
}

TEST_CASE("tokenizer files: what is written is read back as it was") {
  const std::string text = "birds sometimes walk\nbirds don't <fly> é鳥\n";
  const BytePairs pairs = BytePairs::learn(text + text, 300);
  const auto size = static_cast<Dim>(pairs.symbols().size());
  std::vector<Tokenizer> all{Tokenizer(Tokens::bpe, text + text, 300), Tokenizer(Tokens::byte, ""),
                             Tokenizer(pairs, {{"<|endoftext|>", size + 3},
                                               {" é\n", size, true, false},
                                               {"é«", size + 1},
                                               {"birds", *pairs.find("birds")}})};
  Rng rng(1);
  while (all.size() < 50) all.push_back(tests::random_tokenizer(rng));
  for (const Tokenizer& tokens : all) {
    Files files = tokenizer_files(tokens, 64);
    CHECK(equal_tokenizers(read_folder(files).value(), tokens));
    files.erase(files.begin());  // tokenizer.json
    if (tokens.kind() == Tokens::bpe && tokens.special_tokens().empty())
      CHECK(equal_tokenizers(read_folder(files).value(), tokens));
  }
  // A text without unknown bytes may have a token for them.
  Files files = tokenizer_files(all[0], 64);
  const std::string key = R"("unk_token": null)";
  files[0].second.replace(files[0].second.find(key), key.size(), R"("unk_token": "!")");
  CHECK(read_folder(files).has_value());
}

TEST_CASE("tokenizer files: a vocabulary of GPT-2's size, and a megabyte of text") {
  const double most_seconds = testing::sanitized ? 20 : 1;
  const Tokenizer before = tests::gpt2_sized_tokenizer();
  CHECK(before.size() == 50'257);
  Files files = tokenizer_files(before, 1024);
  for (int format = 0; format < 2; ++format) {
    std::optional<Tokenizer> after;
    CHECK(processor_seconds([&] { after = read_folder(files); }) < most_seconds);
    CHECK(equal_tokenizers(after.value(), before));
    files.erase(files.begin());
  }
  Rng rng(4);
  std::string text;
  while (text.size() < 1'000'000) {
    for (Dim letters = rng.below(9); letters >= 0; --letters)
      text += static_cast<char>('a' + rng.below(26));
    text += rng.below(50) == 0 ? "<|endoftext|>\n" : " ";
  }
  std::vector<Dim> ids;
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
      const std::size_t at = below(file.size()), length = below(20), way = below(4);
      if (way == 0)
        file[at] = static_cast<char>(below(256));
      else if (way == 1)
        file.erase(at, length);
      else if (way == 2)
        file.insert(at, parts[below(parts.size())]);
      else
        file.insert(below(file.size()), file.substr(at, length));
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

TEST_CASE("tokenizer files: the token that begins texts is named") {
  Tokenizer tokens(BytePairs(), {{"<|endoftext|>", 256, false, true}});
  tokens.set_marks({256, {256}, {}});
  CHECK_THAT(tokenizer_files(tokens, 8).at(1).second, ContainsSubstring("bos_token"));
}
