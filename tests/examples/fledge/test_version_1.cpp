// Folders that were written before runs had an identity and checksums (tests/examples/fledge/
// version_1: `fledge train text.txt -o run --layers 1 --width 2 --heads 1 --context 4 --batch 2
// --eval-every 2 --no-bias --lr 0.03 --steps 8`, and the state of step 0 of the same run).
#include <filesystem>

#include "tests/examples/fledge/training.h"

using namespace testing;
namespace fs = std::filesystem;

namespace {

struct Old : Desk {
  std::string run = *this / "run", text = *this / "text.txt";
  Old() {
    const fs::path from = fs::path(__FILE__).parent_path() / "version_1";
    fs::create_directory(run);
    for (const char* name :
         {"config.json", "model.safetensors", "state.safetensors", "metrics.csv", "metrics.jsonl"})
      fs::copy_file(from / name, fs::path(run) / name);
    write_text(run + "/.lock", "1234");
    fs::copy_file(from / "text.txt", text);
    fs::copy_file(from / "first_state.safetensors", *this / "first_state");
  }
  /// The same run from its beginning, by this fledge.
  std::map<std::string, std::string> whole(const char* steps) const {
    const Result result = fledge_says(
        {"train",     text,      "-o",   *this / "whole", "--layers", "1",       "--width",
         "2",         "--heads", "1",    "--context",     "4",        "--batch", "2",
         "--no-bias", "--lr",    "0.03", "--steps",       steps,      "-q",      "--eval-every",
         "2"});
    CHECK(result.status == 0);
    return files_in(*this / "whole");
  }
};

const Words results{"model.safetensors", "state.safetensors", "metrics.csv", "metrics.jsonl"};

}  // namespace

TEST_CASE("version 1: a folder is read, evaluated and gone on with") {
  const Old old;
  CHECK(fledge_says({"generate", old.run}).status == 0);
  CHECK(fledge_says({"eval", old.run, old.text}).status == 0);
  trained({"--resume", old.run, old.text, "--steps", "12"});
  CHECK(fledge_says({"generate", old.run}).status == 0);
  CHECK_THAT(text_of(old.run + "/config.json"), ContainsSubstring("\"version\": 2"));
  CHECK(lines_of(text_of(old.run + "/metrics.csv")).size() == 13);
  CHECK(text_of(old.run + "/.lock") == "1234");
}

TEST_CASE("version 1: a run killed before its first checkpoint begins, and always has one then") {
  const Old old;
  const auto whole = old.whole("8");
  for (const std::string& name : results) fs::remove(old.run + "/" + name);
  Running run({"train", "--resume", old.run, old.text, "--json", "--pace", "2"});
  REQUIRE(run.says("\"step\":2,"));  // an evaluation, which writes a model
  run.signal(SIGKILL);
  run.end();
  CHECK(fs::exists(old.run + "/state.safetensors"));
  trained({"--resume", old.run, old.text});
  const auto files = files_in(old.run);
  for (const std::string& name : results) CHECK((files.at(name) == whole.at(name)));
}

TEST_CASE("version 1: a model newer than its checkpoint is said, and the run ends as it would") {
  const Old old;
  const auto whole = old.whole("8");
  fs::copy_file(old / "first_state", old.run + "/state.safetensors",
                fs::copy_options::overwrite_existing);
  const Result resumed = trained({"--resume", old.run, old.text});
  CHECK_THAT(resumed.err,
             ContainsSubstring("model.safetensors' is of step '8', and does not belong to the "
                               "checkpoint: the weights of step 0 take its place\n"));
  const auto files = files_in(old.run);
  for (const std::string& name : results) CHECK((files.at(name) == whole.at(name)));
}

TEST_CASE("version 1: a model without any checkpoint is not gone on with, and stays") {
  const Old old;
  fs::remove(old.run + "/state.safetensors");
  const auto before = files_in(old.run);
  const Result result = fledge_says({"train", "--resume", old.run, old.text});
  CHECK(result.status == 3);
  CHECK_THAT(result.err, ContainsSubstring("no state.safetensors to go on from"));
  CHECK((files_in(old.run) == before));
}
