// Runs whose folders are moved, removed, linked, shared or replaced while they last: nothing is
// lost, mixed or overwritten.
#include <sys/stat.h>

#include <filesystem>
#include <thread>

#include "nn/io/safetensors.h"
#include "tests/examples/fledge/training.h"

using namespace testing;
namespace fs = std::filesystem;

namespace {

const Words slow_unsaved{"--json", "--accumulate", "2000", "--save-every", "0"};

/// "STATUS: what came | what to do".
std::string refused_on_desk(const Desk& desk, const Words& arguments, std::string_view input = "") {
  return refusal_of(run(with_program(arguments), {}, input), desk.path());
}

/// The run is stopped during this: a run that writes would find its files removed before its folder.
void remove_meanwhile(const Running& run, const std::string& folder) {
  run.signal(SIGSTOP);
  fs::remove_all(folder);
  run.signal(SIGCONT);
}

std::string id_in_model(const std::string& folder) {
  return fledge::stored_header(text_of(folder + "/model.safetensors")).text("id");
}
std::string id_in_config(const std::string& folder) {
  return strict_json(text_of(folder + "/config.json"))["fledge"]["id"].string();
}

}  // namespace

TEST_CASE("fledge train: a run whose folder is moved does not write into another run's") {
  const Desk desk;
  const std::string errors = desk / "errors";
  Running first(Words{"train", desk.poems(), "-o", desk / "run"} + tiny + slow_unsaved, errors);
  REQUIRE(first.says("\"step\":2,"));
  fs::rename(desk / "run", desk / "moved");
  trained({desk.poems(), "-o", desk / "run", "--seed", "2"});
  const auto second = files_in(desk / "run");
  const int status = first.end();
  CHECK(WIFEXITED(status));
  CHECK(WEXITSTATUS(status) == 1);
  CHECK((files_in(desk / "run") == second));
  const std::string said = text_of(errors);
  CHECK_THAT(said, ContainsSubstring("' was moved to '"));
  CHECK_THAT(said, ContainsSubstring("go on with: fledge train --resume "));
  trained({"--resume", desk / "moved"});
  trained({desk.poems(), "-o", desk / "whole", "--accumulate", "2000", "--save-every", "0"});
  CHECK((files_in(desk / "moved") == files_in(desk / "whole")));
}

TEST_CASE("fledge train: a run whose folder is removed says that, and makes none") {
  const Desk desk;
  const std::string errors = desk / "errors";
  Running run(Words{"train", desk.poems(), "-o", desk / "run"} + tiny + slow_unsaved, errors);
  REQUIRE(run.says("\"step\":2,"));
  remove_meanwhile(run, desk / "run");
  CHECK(WEXITSTATUS(run.end()) == 1);
  CHECK_THAT(text_of(errors), ContainsSubstring("was removed while the run was in it: nothing of "
                                                "the run is left\n"));
  CHECK(!fs::exists(desk / "run"));
}

TEST_CASE("fledge train: a removed folder is said also when a row of the metrics finds it") {
  const Desk desk;
  const std::string errors = desk / "errors";
  const Words long_run{"--steps", "1000000", "--eval-every", "1000000", "--json"};
  Running run(Words{"train", desk.poems(), "-o", desk / "run"} +
                  Words(tiny.begin(), tiny.end() - 2) + long_run,  // without its --steps
              errors);
  REQUIRE(run.says("\"step\":1,"));
  remove_meanwhile(run, desk / "run");
  run.says("this reads the output until the run ends");
  CHECK(WEXITSTATUS(run.end()) == 1);
  CHECK_THAT(text_of(errors), ContainsSubstring("was removed while the run was in it: nothing of "
                                                "the run is left\n"));
  CHECK_THAT(text_of(errors), EndsWith("begin again: fledge train FILE -o DIR\n"));
}

TEST_CASE("fledge train --resume: a link to a file is replaced, and the file kept") {
  const Desk desk;
  for (const char* name : {"plain", "run"}) trained({desk.poems(), "-o", desk / name});
  fs::rename(desk / "run/state.safetensors", desk / "kept");
  const std::string kept = text_of(desk / "kept");
  fs::create_symlink(desk / "kept", desk / "run/state.safetensors");
  for (const char* name : {"plain", "run"}) trained({"--resume", desk / name, "--steps", "30"});
  CHECK((files_in(desk / "run") == files_in(desk / "plain")));
  CHECK(!fs::is_symlink(desk / "run/state.safetensors"));
  CHECK(text_of(desk / "kept") == kept);
}

TEST_CASE("fledge train: no removed file lets a second run in") {
  const Desk desk;
  Running first(Words{"train", desk.poems(), "-o", desk / "run", "--json", "--accumulate", "2000"} +
                tiny);
  REQUIRE(first.says("\"step\":1,"));
  for (const auto& entry : fs::directory_iterator(desk / "run"))
    if (entry.path().filename().string().starts_with(".")) fs::remove_all(entry);
  for (const Words& words : {Words{"train", desk.poems(), "-o", desk / "run", "--force"},
                             {"train", "--resume", desk / "run"}})
    CHECK_THAT(refused_on_desk(desk, words), StartsWith("1: cannot use '~/run': "));
}

TEST_CASE("fledge train: what is refused has changed no file, whatever its name is") {
  const Desk desk;
  fs::create_directory(desk / "user");
  write_text(desk / "user/.lock", "notes");
  write_text(desk / "user/thesis.tmp-999999-1", "thesis");
  CHECK_THAT(refused_on_desk(desk, {"train", desk.poems(), "-o", desk / "user"}),
             StartsWith("1: the folder '~/user' is not empty"));
  write_text(desk / "user/config.json", "{\"colour\": 1}");
  CHECK_THAT(refused_on_desk(desk, {"train", "--resume", desk / "user"}), StartsWith("3: "));
  CHECK(refused_on_desk(desk, {"train", desk.poems(), "-o", desk / "user", "--force"}) ==
        "1: '~/user/config.json' was not written by fledge train | move it away, or name another "
        "folder: -o DIR");
  CHECK(text_of(desk / "user/.lock") == "notes");
  CHECK(text_of(desk / "user/thesis.tmp-999999-1") == "thesis");
  CHECK(text_of(desk / "user/config.json") == "{\"colour\": 1}");
  // The text itself may have such a name, in the folder of the run.
  fs::remove(desk / "user/config.json");
  write_text(desk / "user/poems.tmp-999999-1", small_text());
  trained({desk / "user/poems.tmp-999999-1", "-o", desk / "user", "--force"});
  CHECK(text_of(desk / "user/poems.tmp-999999-1") == small_text());
  CHECK(text_of(desk / "user/thesis.tmp-999999-1") == "thesis");
  CHECK(text_of(desk / "user/.lock") == "notes");
}

TEST_CASE("fledge train -: standard input may be one of the files that would be replaced") {
  const Desk desk;
  trained({desk.poems(), "-o", desk / "run"});
  const auto before = files_in(desk / "run");
  const Result result =
      in_shell("\"$0\" train - --force -o " + (desk / "run") + " < " + (desk / "run/metrics.csv"));
  CHECK(result.status == 2);
  CHECK_THAT(result.err, ContainsSubstring("would write over the text itself"));
  CHECK((files_in(desk / "run") == before));
}

TEST_CASE("fledge train: a backup by hard links is not written to") {
  const Desk desk;
  trained({desk.poems(), "-o", desk / "run"});
  fs::create_directory(desk / "backup");
  for (const auto& [name, bytes] : files_in(desk / "run"))
    fs::create_hard_link(desk / ("run/" + name), desk / ("backup/" + name));
  const auto backup = files_in(desk / "backup");
  trained({"--resume", desk / "run", "--steps", "30"});
  CHECK((files_in(desk / "backup") == backup));
  trained({desk.poems(), "-o", desk / "run", "--force", "--seed", "2"});
  CHECK((files_in(desk / "backup") == backup));
}

TEST_CASE("fledge train --resume: metrics that are missing or short are mended with a warning") {
  const Desk desk;
  trained({desk.poems(), "-o", desk / "run"});
  fs::remove(desk / "run/metrics.csv");
  const Result missing = trained({"--resume", desk / "run", "--steps", "22"});
  CHECK_THAT(missing.err,
             ContainsSubstring("metrics.csv' is missing: it begins again with the next "
                               "step\n"));
  CHECK(lines_of(text_of(desk / "run/metrics.csv")).size() == 3);
  const std::string csv = text_of(desk / "run/metrics.csv");
  write_text(desk / "run/metrics.csv", csv.substr(0, csv.size() - 3));  // half a row
  const Result shorter = trained({"--resume", desk / "run", "--steps", "24"});
  CHECK_THAT(shorter.err,
             ContainsSubstring("metrics.csv' is shorter than when the checkpoint was"));
  for (const std::string& row : lines_of(text_of(desk / "run/metrics.csv")))
    CHECK(std::count(row.begin(), row.end(), ',') == 4);
  CHECK_THAT(text_of(desk / "run/metrics.csv"), ContainsSubstring("\n24,"));
}

TEST_CASE("fledge train --resume: a missing model is made again, another one is said") {
  const Desk desk;
  for (const char* name : {"run", "other"})
    trained({desk.poems(), "-o", desk / name, "--eval-every", "4"});
  const auto whole = files_in(desk / "run");
  fs::remove(desk / "run/model.safetensors");
  const Result missing = fledge_says({"train", "--resume", desk / "run"});  // it is over
  CHECK(missing.status == 0);
  CHECK_THAT(missing.err, ContainsSubstring("model.safetensors' is missing: the weights of step 20 "
                                            "take its place\n"));
  CHECK(fledge_says({"generate", desk / "run"}).status == 0);
  CHECK((files_in(desk / "run").at("model.safetensors") == whole.at("model.safetensors")));
  // The model of another step: as if somebody had mixed two copies of the folder.
  trained({"--resume", desk / "other", "--steps", "40"});
  fs::copy_file(desk / "other/model.safetensors", desk / "run/model.safetensors",
                fs::copy_options::overwrite_existing);
  const Result another = trained({"--resume", desk / "run", "--steps", "24", "--lr", "0.01"});
  CHECK_THAT(another.err,
             ContainsSubstring("model.safetensors' is of step '40', and does not belong "
                               "to the checkpoint: the weights of step 20 take its "));
  CHECK(fledge_says({"eval", desk / "run"}).status == 0);
}

TEST_CASE("fledge train: a disk that is full is status 1, and says what to do") {
  const Desk desk;
  trained({desk.poems(), "-o", desk / "run"});
  const auto before = files_in(desk / "run");
  const Result resumed =
      in_shell("ulimit -f 20; \"$0\" train -q --steps 30 --resume " + (desk / "run"));
  CHECK(resumed.status == 1);
  CHECK_THAT(resumed.err, ContainsSubstring(": file too large\n"));
  CHECK_THAT(resumed.err, ContainsSubstring("make room on the disk; then go on with: "));
  std::string line =
      "ulimit -f 4; \"$0\" train -q --force " + desk.poems() + " -o " + (desk / "run");
  for (const std::string& word : tiny) line += " " + word;
  const Result forced = in_shell(line);
  CHECK(forced.status == 1);
  CHECK_THAT(forced.err, ContainsSubstring(": file too large\n"));
  auto after = files_in(desk / "run");
  CHECK(after.at("model.safetensors") == before.at("model.safetensors"));
  CHECK(after.at("state.safetensors") == before.at("state.safetensors"));
  trained({"--resume", desk / "run", "--steps", "30"});
}

TEST_CASE("fledge generate: beside a run that is replaced again and again, never two mixed") {
  const Desk desk;
  write_text(desk / "letters.txt", "abcdefghij" + std::string(300, 'k') + small_text());
  trained({desk.poems(), "-o", desk / "run"});
  std::thread replaces([&] {
    for (int i = 0; i < 8; ++i)
      fledge_says(Words{"train", i % 2 ? desk.poems() : desk / "letters.txt", "-o", desk / "run",
                        "--force", "-q"} +
                  tiny);
  });
  int tries = 0;
  for (; tries < 25; ++tries) {
    const Result result = fledge_says({"generate", desk / "run", "--tokens-out", "5"});
    INFO(result.err);
    CHECK(result.status == 0);
  }
  replaces.join();
  CHECK(id_in_model(desk / "run") == id_in_config(desk / "run"));
}

TEST_CASE("fledge generate, eval: config.json and the model of two runs are refused, bounded") {
  const Desk desk;
  trained({desk.poems(), "-o", desk / "one"});
  trained({desk.poems(), "-o", desk / "two", "--seed", "2"});
  CHECK(id_in_config(desk / "one") != id_in_config(desk / "two"));
  fs::copy_file(desk / "two/model.safetensors", desk / "one/model.safetensors",
                fs::copy_options::overwrite_existing);
  for (const char* command : {"generate", "eval"})
    CHECK(refused_on_desk(desk, {command, desk / "one"}) ==
          "3: cannot read '~/one/model.safetensors': it was written for another config.json than "
          "the one beside it | restore it, or move it away and run: fledge train --resume ~/one");
  std::string bytes = text_of(desk / "two/model.safetensors");
  bytes[bytes.size() - 3] = static_cast<char>(bytes[bytes.size() - 3] ^ 1);
  write_text(desk / "two/model.safetensors", bytes);
  CHECK_THAT(
      refused_on_desk(desk, {"generate", desk / "two"}),
      ContainsSubstring("it is damaged: its checksum does not match its contents | restore it, or "
                        "move it away and run: fledge train --resume ~/two"));
}
