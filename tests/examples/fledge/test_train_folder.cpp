// Runs whose folders are moved, removed, linked, shared or replaced while they last: nothing is
// lost, mixed or overwritten.
#include <filesystem>
#include <thread>

#include "tests/examples/fledge/training.h"

using namespace testing;
namespace fs = std::filesystem;

namespace {

const Words slow_unsaved{"--json", "--accumulate", "2000", "--save-every", "0"};

/// "STATUS: what came | what to do".
std::string refused_on_desk(const Desk& desk, const Words& arguments) {
  return refusal_of(fledge_says(arguments), desk.path());
}

}  // namespace

TEST_CASE("fledge train: a run whose folder is moved stays in it, and writes into no other run's") {
  const Desk desk;
  Running first(Words{"train", desk.poems(), "-o", desk / "run"} + tiny + slow_unsaved);
  REQUIRE(first.says("\"step\":2,"));
  fs::rename(desk / "run", desk / "moved");
  trained({desk.poems(), "-o", desk / "run", "--seed", "2"});
  const auto second = files_in(desk / "run");
  CHECK(WEXITSTATUS(first.end()) == 0);
  CHECK((files_in(desk / "run") == second));
  trained({desk.poems(), "-o", desk / "whole", "--accumulate", "2000"});
  CHECK((files_in(desk / "moved") == files_in(desk / "whole")));
}

TEST_CASE("fledge train: a run whose folder is removed says that, and makes none") {
  const Desk desk;
  const std::string errors = desk / "errors";
  Running run(Words{"train", desk.poems(), "-o", desk / "run"} + tiny + slow_unsaved, errors);
  REQUIRE(run.says("\"step\":1,"));
  run.signal(SIGSTOP);  // else it could write between the removals of its files and its folder
  fs::remove_all(desk / "run");
  run.signal(SIGCONT);
  CHECK(WEXITSTATUS(run.end()) == 1);
  CHECK_THAT(
      text_of(errors),
      ContainsSubstring("was removed while the run was in it: nothing of the run is left\n") &&
          EndsWith("begin again: fledge train FILE -o DIR\n"));
  CHECK(!fs::exists(desk / "run"));
}

TEST_CASE("fledge train: links and backups of a run keep what they have") {
  const Desk desk;
  for (const char* name : {"plain", "run"}) trained({desk.poems(), "-o", desk / name});
  for (const char* backup : {"backup", "linked"}) fs::create_directory(desk / backup);
  for (const auto& [name, bytes] : files_in(desk / "run")) {
    fs::create_hard_link(desk / ("run/" + name), desk / ("backup/" + name));
    fs::create_symlink(desk / ("backup/" + name), desk / ("linked/" + name));
  }
  const auto backup = files_in(desk / "backup");
  for (const char* name : {"plain", "run", "linked"})
    trained({"--resume", desk / name, "--steps", "30"});
  CHECK((files_in(desk / "run") == files_in(desk / "plain")));
  CHECK((files_in(desk / "linked") == files_in(desk / "plain")));
  CHECK(!fs::is_symlink(desk / "linked/run.safetensors"));
  CHECK((files_in(desk / "backup") == backup));
  trained({desk.poems(), "-o", desk / "run", "--force", "--seed", "2"});
  CHECK((files_in(desk / "backup") == backup));
}

TEST_CASE("fledge train: no removed file lets a second run in") {
  const Desk desk;
  Running first(Words{"train", desk.poems(), "-o", desk / "run", "--json", "--accumulate", "5000"} +
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
  for (const char* name : {".lock", "thesis.tmp", "config.json"})
    write_text(desk / ("user/" + std::string(name)), "mine");
  const auto mine = files_in(desk / "user");
  CHECK_THAT(refused_on_desk(desk, {"train", desk.poems(), "-o", desk / "user"}),
             StartsWith("1: the folder '~/user' is not empty"));
  CHECK_THAT(refused_on_desk(desk, {"train", "--resume", desk / "user"}), StartsWith("3: "));
  CHECK(refused_on_desk(desk, {"train", desk.poems(), "-o", desk / "user", "--force"}) ==
        "1: '~/user/config.json' is in the way: it is of a model, not of a run | move it away, or "
        "name another folder: -o DIR");
  CHECK((files_in(desk / "user") == mine));
  // The text itself may be in the folder of the run.
  fs::remove(desk / "user/config.json");
  write_text(desk / "user/poems.tmp", small_text());
  trained({desk / "user/poems.tmp", "-o", desk / "user", "--force"});
  CHECK(text_of(desk / "user/poems.tmp") == small_text());
  CHECK(text_of(desk / "user/thesis.tmp") == "mine");
  CHECK(text_of(desk / "user/.lock") == "mine");
  // But not as one of its files.
  const auto before = files_in(desk / "user");
  const Result result = in_shell("\"$0\" train - --force -o " + (desk / "user") + " < " +
                                 (desk / "user/events.jsonl"));
  CHECK(result.status == 2);
  CHECK_THAT(result.err, ContainsSubstring("would write over the text itself"));
  CHECK((files_in(desk / "user") == before));
}

TEST_CASE(
    "fledge train --from: a run that is killed at once goes on with the weights it began with") {
  const Desk desk;
  trained({desk.poems(), "-o", desk / "base"});
  const Words line{"train", desk.poems(), "--from", desk / "base",  "--steps",
                   "4",     "--batch",    "2",      "--accumulate", "2000"};
  CHECK(fledge_says(line + Words{"-o", desk / "whole", "-q"}).status == 0);
  Running run(line + Words{"-o", desk / "run", "--json"});
  REQUIRE(run.says("\"type\":\"start\""));
  run.signal(SIGKILL);
  run.end();
  CHECK_THAT(noted_in(desk / "run", "notes"), ContainsSubstring("\"step\":0,"));
  trained({"--resume", desk / "run"});
  CHECK((files_in(desk / "run") == files_in(desk / "whole")));
}

TEST_CASE("fledge: readers beside a run that is replaced again and again, never two mixed") {
  const Desk desk;
  write_text(desk / "letters.txt", "abcdefghij" + std::string(300, 'k') + small_text());
  trained({desk.poems(), "-o", desk / "run"});
  std::thread replaces([&] {
    for (int i = 0; i < 8; ++i)
      fledge_says(Words{"train", i % 2 ? desk.poems() : desk / "letters.txt", "-o", desk / "run",
                        "--force", "-q"} +
                  tiny);
  });
  for (int tries = 0; tries < 25; ++tries) {
    const Result result = fledge_says({"generate", desk / "run", "--tokens-out", "5"});
    INFO(result.err);
    CHECK(result.status == 0);
    const Result plot = fledge_says({"plot", desk / "run"});
    INFO(plot.err);  // a new run has no step yet
    CHECK((plot.status == 0 || plot.err.find("has no step of the run") != std::string::npos));
  }
  replaces.join();
}
