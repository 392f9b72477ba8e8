// fledge export: what it writes is the model, for fledge and for others.
#include "nn/io/json_reader.h"
#include "nn/io/safetensors.h"
#include "tests/examples/fledge/models.h"

using namespace testing;

namespace {

std::string loss_of(const std::string& folder) {
  const Result result = fledge_says({"eval", folder, models().poems(), "--json"});
  CHECK(result.status == 0);
  return result.out;
}

std::string exported(const Words& arguments) {
  CAPTURE(arguments);
  const Result result = fledge_says(Words{"export"} + arguments);
  CHECK(result.status == 0);
  CHECK(result.out.empty());
  return result.err;
}

}  // namespace

TEST_CASE("fledge export: as F32 the model is the same") {
  const Desk desk;
  exported({models().chars(), "-o", desk / "one"});
  CHECK(loss_of(desk / "one") == loss_of(models().chars()));
  CHECK(files_in(desk / "one").size() == 5);  // with three for the tokenizer and generation
  // Every byte of the weights is where it was.
  CHECK(text_of(desk / "one" + "/model.safetensors").size() <=
        text_of(models().chars() + "/model.safetensors").size());
}

TEST_CASE("fledge export: rounding is reported, and a second time there is none") {
  const Desk desk;
  for (const std::string type : {"f16", "bf16"}) {
    const std::string first = desk / type, second = desk / (type + "-again");
    CHECK_THAT(exported({models().chars(), "-o", first, "--to", type}),
               ContainsSubstring("numbers were rounded to "));
    CHECK_THAT(exported({first, "-o", second, "--to", type}),
               ContainsSubstring("No number was rounded"));
    CHECK(files_in(first) == files_in(second));
    CHECK(loss_of(first) == loss_of(second));
    CHECK_THAT(text_of(first + "/config.json"),
               ContainsSubstring("\"torch_dtype\": \"" +
                                 std::string(type == "f16" ? "float16" : "bfloat16") + "\""));
    const std::string bytes = text_of(first + "/model.safetensors");
    for (const fledge::StoredTensor& tensor : fledge::stored_header(bytes).tensors)
      CHECK(tensor.dtype == (type == "f16" ? "F16" : "BF16"));
  }
}

TEST_CASE("fledge export: no file says where the text was on this machine") {
  const Desk desk;
  for (const char* folder : {"private", "private/from"})
    std::filesystem::create_directory(desk / folder);
  exported({models().chars(), "-o", desk / "private/from/bird"});
  CHECK(fledge_says({"train", models().poems(), "-o", desk / "run", "--from",
                     desk / "private/from/bird", "--steps", "2", "-q"})
            .status == 0);
  exported({desk / "run", "-o", desk / "shared"});
  for (const auto& [name, bytes] : files_in(desk / "shared")) {
    INFO(name);
    CHECK(bytes.find(desk.path()) == std::string::npos);
    CHECK(bytes.find(models().path()) == std::string::npos);
  }
  CHECK_THAT(text_of(desk / "shared/config.json"), ContainsSubstring("\"text\": \"poems.txt\""));
}

TEST_CASE("fledge export: the same command goes on where it was killed") {
  const Desk desk;
  exported({models().chars(), "-o", desk / "whole"});
  const Files whole = files_in(desk / "whole");
  for (const std::string state : {".fledge-uncommitted", ".fledge-committed"})
    for (const bool has_moved : {false, true}) {
      if (has_moved && state == ".fledge-uncommitted") continue;
      INFO(state << ", moved: " << has_moved);
      const std::string out = desk / ("out" + state + (has_moved ? "-moved" : ""));
      std::filesystem::create_directories(out + "/" + state);
      for (const auto& [name, bytes] : whole)
        write_text(out + "/" + (has_moved && name < "d" ? "" : state + "/") + name,
                   state == ".fledge-committed" ? bytes : bytes.substr(0, bytes.size() / 2));
      exported({models().chars(), "-o", out});
      CHECK(files_in(out) == whole);
      CHECK_FALSE(std::filesystem::exists(out + "/" + state));
      write_text(out + "/thesis", "mine");
      CHECK(fledge_says({"export", models().chars(), "-o", out}).status == 1);
    }
}

TEST_CASE("fledge export: nothing is written over, and wrong options are refused") {
  const Desk desk;
  const auto refused = [&](const Words& arguments) {
    return refusal_of(fledge_says(Words{"export"} + arguments), desk.path());
  };
  CHECK(refused({models().chars(), "-o", desk.path()}) ==
        "1: the folder '~' is not empty | name another folder: -o DIR");
  CHECK(refused({models().chars(), "--training", "--to", "f16"}) ==
        "2: --training continues with numbers as they are | leave out --to");
  CHECK_THAT(refused({models().chars(), "--to", "f8"}),
             StartsWith("2: --to must be one of f32|f16|bf16: got 'f8'"));
  CHECK_THAT(refused({desk / "none"}), StartsWith("3: cannot read '~/none'"));
}

TEST_CASE("fledge export: a number that is too large for F16 is named") {
  const Desk desk;
  const std::string folder = desk / "large";
  exported({models().chars(), "-o", folder});
  std::string bytes = text_of(folder + "/model.safetensors");
  const fledge::StoredHeader header = fledge::stored_header(bytes);
  const std::string key = "\"checksum\":\"";
  bytes.replace(bytes.find(key) + 1, 8, "unused__");  // another key of the metadata
  const float large = 70000;
  bytes.replace(header.tensors.at(0).begin, 4, reinterpret_cast<const char*>(&large), 4);
  write_text(folder + "/model.safetensors", bytes);
  CHECK(refusal_of(fledge_says({"export", folder, "-o", desk / "x", "--to", "f16"}), desk.path()) ==
        "3: h.0.attn.c_attn.bias has 1 number too large for F16, whose largest number is 65504 | "
        "use --to bf16 or --to f32");
  CHECK_FALSE(std::filesystem::exists(desk / "x"));
  exported({folder, "-o", desk / "x", "--to", "bf16"});
}

TEST_CASE("fledge export: a folder without a checkpoint is not trained on") {
  const Desk desk;
  const std::string folder = desk / "run";
  exported({models().chars(), "-o", folder});
  const Files before = files_in(folder);
  const Result result = fledge_says({"train", "--resume", folder, models().poems(), "-q"});
  CHECK(result.status == 3);
  CHECK_THAT(result.err, ContainsSubstring("no state.safetensors to go on from"));
  CHECK(files_in(folder) == before);
}
