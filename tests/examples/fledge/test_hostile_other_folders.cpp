// Damaged and hostile folders of other libraries: one clear error, status 3, bounded memory.
#include <random>

#include "tests/examples/fledge/other_folder.h"
#include "tests/support/sanitized.h"

using namespace testing;

namespace {

// "what came | what to do" of the folder, which must be refused with status 3.
std::string refused_folder(const OtherFolder& desk) {
  const Result result = fledge_says({"generate", desk.folder(), "birds", "--seed", "1"});
  INFO(result.err);
  CHECK(result.status == 3);
  if (!sanitized) CHECK(result.megabytes < 64);
  return refusal_of(result, desk.folder()).substr(3);
}

}  // namespace

TEST_CASE("other folders: each of their files is named") {
  for (const auto& [file, text, problem] : std::vector<std::array<std::string, 3>>{
           {"config.json", replaced(gpt2_config, "gelu_new", "relu"),
            "activation_function must be gelu_new or gelu"},
           {"generation_config.json", "[]", "generation_config.json': line 1, column 1: the text"},
           {"special_tokens_map.json", "{", "special_tokens_map.json': line 1, column 2: expected"},
           {"added_tokens.json", R"({"<p>": -1})",
            "added_tokens.json': line 1, column 9: <p> must"},
           {"tokenizer_config.json", R"({"added_tokens_decoder": {"-1": {"content": "a"}}})",
            "must have a number from 0 to 999999 as its key"},
           {"tokenizer.json", R"({"normalizer": {"type": "NFC"}})", "normalizer must be null"},
           {"vocab.json", "birds", "expected a value"},
           {"merges.txt", "#version: 0.2\nb q x\n", "line 2"}}) {
    CAPTURE(file);
    const OtherFolder desk;
    desk.add_tokenizer();
    write_text(desk.folder() + "/" + file, text);
    CHECK_THAT(refused_folder(desk), ContainsSubstring(problem));
  }
}

TEST_CASE("other folders: huge files are not read, and a pickle is not opened") {
  for (const char* name :
       {"tokenizer.json", "merges.txt", "vocab.json", "config.json", "tokenizer_config.json",
        "special_tokens_map.json", "added_tokens.json", "generation_config.json"}) {
    INFO(name);
    const OtherFolder desk;
    desk.add_tokenizer();
    const std::string file = desk.folder() + "/" + name;
    write_text(file, "{");
    std::filesystem::resize_file(file, 100'000'000);  // sparse
    CHECK_THAT(refused_folder(desk), ContainsSubstring("it has 100000000 bytes"));
  }
  const OtherFolder desk;
  const std::string part = desk.folder() + "/model-00001-of-00002.safetensors";
  std::filesystem::rename(desk.folder() + "/model.safetensors", part);
  CHECK_THAT(refused_folder(desk), ContainsSubstring("it is one of several files"));
  std::filesystem::rename(part, desk.folder() + "/pytorch_model.bin");
  CHECK_THAT(refused_folder(desk), ContainsSubstring("it is a Python pickle"));
}

TEST_CASE("other folders: an infinity of 16 bits is named") {
  for (const auto& [type, infinity] : {std::pair{"F16", "\x7c"}, {"BF16", "\x7f"}}) {
    const OtherFolder desk;
    desk.add_tokenizer();
    std::string bytes =
        fledge::stored_bytes(fledge::named_weights(other_model(), fledge::find_dtype(type)));
    bytes.replace(
        bytes.size() - 2, 2,
        std::string(type) == "F16" ? std::string("\0\x7c", 2) : std::string("\x80\x7f", 2));
    bytes.replace(bytes.find("checksum"), 8, "unused__");
    write_text(desk.folder() + "/model.safetensors", bytes);
    CHECK_THAT(refused_folder(desk),
               ContainsSubstring("'wte.weight' must hold numbers that are finite: number 2119"));
  }
}

TEST_CASE("other folders: any change of a byte is refused in words, or does no harm") {
  std::mt19937 draw(7);
  const OtherFolder desk;
  desk.add_tokenizer();
  const std::string folder = desk.folder();
  write_text(folder + "/special_tokens_map.json", R"({"eos_token": {"content": "<|endoftext|>"}})");
  write_text(folder + "/generation_config.json", R"({"eos_token_id": [264], "pad_token_id": 263})");
  const Files good = files_in(folder);
  const int changes = sanitized ? 5 : 60;
  for (const auto& [name, bytes] : good)
    for (int change = 0; change < changes; ++change) {
      std::string changed = bytes;
      // The header of safetensors comes first.
      const std::size_t most = name == "model.safetensors" ? 2500 : changed.size();
      const std::size_t at = draw() % most;
      if (change % 3 == 0)
        changed.resize(at);
      else if (change % 3 == 1)
        changed[at] = static_cast<char>(draw());
      else
        changed.insert(at, 1, "\"{}[],:0-\\\n"[draw() % 11]);
      write_text(folder + "/" + name, changed);
      const Result result =
          fledge_says({"generate", folder, "birds", "--tokens-out", "1", "--seed", "1"});
      INFO(name << ", change " << change << " at " << at << ": " << result.err);
      CHECK((result.status == 0 || result.status == 3));
      if (result.status == 3) CHECK_THAT(two_lines(result.err), StartsWith("fledge generate: "));
      if (!sanitized) CHECK(result.megabytes < 64);
      write_text(folder + "/" + name, bytes);
    }
}
