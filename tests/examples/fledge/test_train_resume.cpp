// A run that was stopped and resumed ends with the same bytes as a run that never stopped. It is
// stopped by one signal, by two, or killed; FLEDGE_KILLS=200 (make kills) sets the number of kills.
#include <cstdlib>
#include <random>
#include <thread>

#include "examples/fledge/train/source.h"
#include "tests/examples/fledge/training.h"

using namespace testing;

namespace {

/// The files of a finished run must be those of the run that never stopped.
const Words results{"model.safetensors", "state.safetensors", "metrics.csv", "metrics.jsonl"};

void check_same(const Files& files, const Files& whole) {
  for (const std::string& name : results) {
    CAPTURE(name);
    CHECK((files.at(name) == whole.at(name)));  // in brackets: a failure does not print the bytes
  }
  CHECK(files.size() == 8);  // nothing half-written stays
}

/// The tiny run, with evaluations and dropout.
Words run_in(const Desk& desk, const std::string& folder) {
  return Words{"train", desk.poems(),   "-o", desk / folder, "--dropout", "0.1",        "--watch",
               "b:i",   "--eval-every", "4",  "--threads",   "1",         "--patience", "0"} +
         tiny;
}
Words resumed(const Desk& desk, const std::string& folder, const std::string& threads) {
  return {"train", "--resume", desk / folder, "--threads", threads, "--watch", "b:i"};
}

Files uninterrupted(const Desk& desk) {
  const Result result = fledge_says(run_in(desk, "whole"));
  INFO(result.err);
  CHECK(result.status == 0);
  return files_in(desk / "whole");
}

/// The steps are slow, so that a signal arrives between two of them.
const Words slow_steps{"--json", "--pace", "4"};

}  // namespace

TEST_CASE("fledge train --resume: after an interrupt at any step, with another number of threads") {
  const Desk desk;
  const Files whole = uninterrupted(desk);
  for (const int step : {0, 1, 10, 19}) {
    CAPTURE(step);
    const std::string folder = "stopped" + std::to_string(step);
    const std::string errors = desk / (folder + ".err");
    const Words pause = step == 0 ? Words{} : Words{"--pace", "20", "--json"};
    Running run(run_in(desk, folder) + (step == 0 ? slow_steps : pause), errors);
    REQUIRE(run.says(step == 0 ? "\"start\"" : "\"step\":" + std::to_string(step) + ","));
    run.signal(SIGINT);
    const int status = run.end();
    CHECK(WIFSIGNALED(status));
    CHECK(WTERMSIG(status) == SIGINT);
    const std::string said = text_of(errors);
    CHECK_THAT(said, ContainsSubstring("\nStopping after step "));
    CHECK_THAT(said,
               ContainsSubstring("(Ctrl-C again to quit at once).\nSaved in " + (desk / folder)));
    CHECK_THAT(said, EndsWith(". Continue with: fledge train --resume " + (desk / folder) + "\n"));
    CHECK(fledge_says({"generate", desk / folder, "b", "--seed", "1"}).status == 0);
    const Result rest = fledge_says(resumed(desk, folder, "3"));
    INFO(rest.err);
    CHECK(rest.status == 0);
    check_same(files_in(desk / folder), whole);
  }
}

TEST_CASE("fledge train: the printed command names a text that its name alone would not find") {
  const Desk desk;
  std::filesystem::create_directory(desk / "texts");
  write_text(desk / "texts/other.txt", "some text\n");
  fledge::train::TrainConfig config;
  config.out = desk / "run";
  config.texts = config.named = {desk.poems()};  // beside the run
  CHECK(resume_command(config) == "fledge train --resume " + (desk / "run"));
  config.texts = {desk / "texts/other.txt"};
  config.named = {desk / "texts"};  // the folder, not each of its files
  CHECK(resume_command(config) ==
        "fledge train --resume " + (desk / "run") + " " + (desk / "texts"));
  write_text(desk / "other.txt", "a namesake\n");
  CHECK(resume_command(config) ==
        "fledge train --resume " + (desk / "run") + " " + (desk / "texts"));
}

TEST_CASE("fledge train: a run, its events and its export do not say where their text was") {
  const Desk desk;
  const std::string secret = "home/alice/private";
  for (const char* folder : {"home/alice/private", "elsewhere", "moved"})
    std::filesystem::create_directories(desk / folder);
  const std::string diary = desk / "home/alice/private/diary.txt";
  std::filesystem::copy_file(desk.poems(), diary);
  const auto in = [&](const std::string& folder, const std::string& line) {
    return in_shell("cd '" + (desk / folder) + "' && \"$0\" " + line);
  };
  trained({diary, "-o", desk / "elsewhere/base"});
  const Result run = trained({diary, "-o", desk / "elsewhere/run", "--json"});
  CHECK(json_lines(run.out)[0]["texts"].array().at(0).string() == "diary.txt");
  CHECK(fledge_says({"train", diary, "--from", desk / "elsewhere/base", "-o",
                     desk / "elsewhere/tuned", "--steps", "2", "--batch", "2", "-q"})
            .status == 0);
  CHECK_THAT(text_of(desk / "elsewhere/tuned/config.json"),
             ContainsSubstring("\"from\": \"base\""));
  for (const char* name : {"run", "tuned"}) {
    CAPTURE(name);
    CHECK(fledge_says({"export", desk / ("elsewhere/" + std::string(name)), "-o", desk / "export"})
              .status == 0);
    for (const std::string& folder : {desk / ("elsewhere/" + std::string(name)), desk / "export"})
      for (const auto& [file, bytes] : files_in(folder)) {
        CAPTURE(file);
        CHECK(bytes.find("alice") == bytes.npos);
        CHECK(bytes.find(desk.path()) == bytes.npos);
      }
    std::filesystem::remove_all(desk / "export");
  }
  // It is found in the current folder and beside the run, and can be named.
  const std::string eval = "eval '" + (desk / "elsewhere/run") + "'";
  CHECK(in("elsewhere", eval).status == 3);
  CHECK(in(secret, eval).status == 0);
  const std::string resume = "train -q --resume '" + (desk / "elsewhere/run") + "' --steps ";
  CHECK(in("elsewhere", resume + "21").status == 3);
  CHECK(in("elsewhere", resume + "21 ../home/alice/private/diary.txt").status == 0);
  CHECK(in(secret, resume + "22").status == 0);
  std::filesystem::copy_file(diary, desk / "elsewhere/diary.txt");
  CHECK(in("moved", eval).status == 0);
  write_text(desk / "moved/diary.txt", "a namesake\n");
  CHECK(in("moved", eval).status == 0);
  CHECK(in("moved", "train -q --steps 23 --resume ../elsewhere/run/").status == 0);
  CHECK(in("elsewhere/run", "train -q --steps 24 --resume .").status == 0);
  std::filesystem::create_directory(desk / "home/diary.txt");  // a folder is no text
  write_text(desk / "elsewhere/diary.txt", "changed\n");
  CHECK_THAT(in("home", eval).err,
             ContainsSubstring("elsewhere/diary.txt' is not the text of this run"));
}

TEST_CASE("fledge train: an interrupt says how it ended, in --json and without a folder") {
  const Desk desk;
  const std::string errors = desk / "err";
  Running run(Words{"train", desk.poems(), "--no-save"} + tiny + slow_steps, errors);
  REQUIRE(run.says("\"step\":1,"));
  run.signal(SIGTERM);
  CHECK(run.says("{\"type\":\"end\",\"status\":\"interrupted\",\"step\":"));
  CHECK(WTERMSIG(run.end()) == SIGTERM);
  CHECK_THAT(text_of(errors), EndsWith(". Nothing was saved: add -o DIR.\n"));
}

TEST_CASE("fledge train: a second interrupt ends it at once, with what the folder had") {
  const Desk desk;
  const Files whole = uninterrupted(desk);
  Running run(run_in(desk, "twice") + Words{"--json", "--pace", "1", "--save-every", "0"});
  REQUIRE(run.says("\"step\":1,"));
  run.signal(SIGINT);
  run.signal(SIGTERM);  // another signal: two equal ones may arrive as one
  const int status = run.end();
  CHECK(WIFEXITED(status));
  CHECK((WEXITSTATUS(status) == 130 || WEXITSTATUS(status) == 143));  // whichever comes second
  CHECK(fledge_says(resumed(desk, "twice", "2")).status == 0);
  check_same(files_in(desk / "twice"), whole);
}

TEST_CASE("fledge train --resume: at the last step, and further") {
  const Desk desk;
  const Files whole = uninterrupted(desk);
  const Result again = fledge_says(resumed(desk, "whole", "1"));
  CHECK(again.status == 0);
  CHECK_THAT(again.err, ContainsSubstring(" is over after 20 steps; for more: --steps N"));
  CHECK((files_in(desk / "whole") == whole));
  const auto events = json_lines(fledge_says(resumed(desk, "whole", "1") + Words{"--json"}).out);
  REQUIRE(events.size() == 1);
  const StrictJson& end = events[0];
  CHECK(end["type"].string() == "end");
  CHECK(end["status"].string() == "ok");
  CHECK(end["step"].number() == 20);
  // More steps stay the run's own, also when it stops on the way.
  Running more(resumed(desk, "whole", "1") + Words{"--steps", "30", "--json", "--pace", "20"});
  REQUIRE(more.says("\"step\":22,"));
  more.signal(SIGINT);
  CHECK(WIFSIGNALED(more.end()));
  CHECK(fledge_says(resumed(desk, "whole", "1")).status == 0);
  CHECK(lines_of(text_of(desk / "whole/metrics.csv")).size() == 31);
}

TEST_CASE("fledge train --resume: killed again and again, without a step lost or taken twice",
          "[kills]") {
  const char* wish = std::getenv("FLEDGE_KILLS");
  const int kills = wish ? std::atoi(wish) : 12;
  const Desk desk;
  const Words more_steps{"--steps", std::to_string(20 + 10 * kills)};
  const auto with_steps = [&](Words words) {
    words.resize(words.size() - 2);  // "--steps", "20"
    return words + more_steps;
  };
  const Result whole = fledge_says(with_steps(run_in(desk, "whole")));
  REQUIRE(whole.status == 0);
  std::mt19937 draw(static_cast<unsigned>(kills));
  int killed = 0, too_early = 0;
  const Words every{"--save-every", "0"};
  // A kill may come while the first files are moved to their places.
  const auto has_begun = [&] {
    return std::filesystem::exists(desk / "killed/config.json") ||
           std::filesystem::exists(desk / "killed/.fledge-committed/config.json");
  };
  for (int tries = 0; killed < kills; ++tries) {
    REQUIRE(tries < 20 * kills);
    Running run((has_begun() ? resumed(desk, "killed", "2") : with_steps(run_in(desk, "killed"))) +
                every);
    // On a slow machine 60 ms may be too short for a run to begin, so later tries take longer.
    const auto most = static_cast<unsigned>(60000 * (1 + too_early / 2));
    std::this_thread::sleep_for(std::chrono::microseconds(draw() % most));
    run.signal(SIGKILL);
    const bool was_killed = WIFSIGNALED(run.end());
    killed += was_killed && has_begun();
    too_early = has_begun() ? 0 : too_early + 1;
    if (std::filesystem::exists(desk /
                                "killed/model.safetensors"))  // whenever it is there it loads
      CHECK(fledge_says({"generate", desk / "killed", "--tokens-out", "0"}).status == 0);
  }
  const Result rest = fledge_says(resumed(desk, "killed", "1"));
  INFO(rest.err);
  CHECK(rest.status == 0);
  check_same(files_in(desk / "killed"), files_in(desk / "whole"));
}
