// A run that is stopped by a signal, or killed, and resumed ends with the same bytes as a run that
// never stopped. FLEDGE_KILLS=200 (make kills) sets the number of kills.
#include <sys/stat.h>

#include <cstdlib>
#include <random>
#include <thread>

#include "tests/examples/fledge/training.h"
#include "tests/support/sanitized.h"

using namespace testing;

namespace {

/// The paced run, with evaluations, dropout and what is watched.
Words run_in(const Desk& desk, const std::string& folder) {
  return Words{"train", desk.poems(),   "-o", desk / folder, "--dropout", "0.1",        "--watch",
               "b:i",   "--eval-every", "4",  "--threads",   "1",         "--patience", "0"} +
         paced;
}
Words resumed(const Desk& desk, const std::string& folder, const std::string& threads = "2") {
  return {"train", "--resume", desk / folder, "--threads", threads, "--watch", "b:i"};
}

/// The run goes on to its end, in which it has the same files as the folder "whole".
void check_goes_on(const Desk& desk, const std::string& folder, const Words& line) {
  const Result rest = fledge_says(line);
  INFO(rest.err);
  CHECK(rest.status == 0);
  // In brackets: a failure does not print the bytes.
  CHECK((files_in(desk / folder) == files_in(desk / "whole")));
}

}  // namespace

TEST_CASE("interrupts: any signal, after any step and in every variant, saves and says so") {
  struct Stop {
    int signal;
    std::string after;
    Words how, call;  // options of the run, and those that each call is given again
  };
  const std::vector<Stop> stops{
      {SIGINT, "\"start\"", {}, {}},
      {SIGTERM, "\"step\":1,", {}, {}},
      {SIGHUP, "\"step\":60,", {}, {}},
      {SIGINT, "\"step\":100,", {}, {"--sample-every", "7", "--probe", "lake"}},
      {SIGINT, "\"step\":7,", {"--tie-qk", "--freeze", "v", "--valid", "0"}, {}},
      {SIGINT, "\"step\":7,", {"--without", "positions,value,mask", "--accumulate", "2"}, {}}};
  for (const Stop& stop : stops) {
    CAPTURE(stop.signal, stop.after, stop.how);
    const Desk desk;
    REQUIRE(fledge_says(run_in(desk, "whole") + stop.how + stop.call).status == 0);
    const std::string errors = desk / "err", folder = desk / "stopped";
    Running run(run_in(desk, "stopped") + stop.how + stop.call, errors);
    REQUIRE(run.says(stop.after));
    run.signal(stop.signal);
    CHECK(run.says("{\"type\":\"end\",\"status\":\"interrupted\",\"step\":"));
    const int status = run.end();
    CHECK(WIFSIGNALED(status));
    CHECK(WTERMSIG(status) == stop.signal);
    const std::string said = text_of(errors);
    CHECK_THAT(said, ContainsSubstring("\nStopping after step "));
    CHECK_THAT(said, ContainsSubstring("(Ctrl-C again to quit at once).\nSaved in " + folder));
    CHECK_THAT(said, EndsWith(". Continue with: fledge train --resume " + folder + "\n"));
    CHECK(fledge_says({"generate", folder, "b", "--seed", "1"}).status == 0);
    check_goes_on(desk, "stopped", resumed(desk, "stopped", "3") + stop.call);
  }
}

TEST_CASE("interrupts: without a folder nothing was saved, and that is said") {
  const Desk desk;
  Running run(Words{"train", desk.poems(), "--no-save"} + paced, desk / "err");
  REQUIRE(run.says("\"step\":1,"));
  run.signal(SIGTERM);
  CHECK(run.says("{\"type\":\"end\",\"status\":\"interrupted\",\"step\":"));
  CHECK(WTERMSIG(run.end()) == SIGTERM);
  CHECK_THAT(text_of(desk / "err"), EndsWith(". Nothing was saved: add -o DIR.\n"));
}

TEST_CASE("interrupts: a second one ends the run at once; a hangup that comes twice is one") {
  const Desk desk;
  REQUIRE(fledge_says(run_in(desk, "whole")).status == 0);
  for (const bool is_hangup : {false, true}) {
    const std::string folder = is_hangup ? "hung up" : "twice";
    Running run(run_in(desk, folder) + Words{"--save-every", "0"});
    REQUIRE(run.says("\"step\":1,"));
    run.signal(is_hangup ? SIGHUP : SIGINT);
    // Two equal signals at once may arrive as one; of two others the run may end after the first.
    if (is_hangup) std::this_thread::sleep_for(std::chrono::milliseconds(10));
    run.signal(is_hangup ? SIGHUP : SIGTERM);
    const int status = run.end();
    if (is_hangup)
      CHECK(WTERMSIG(status) == SIGHUP);
    else
      CHECK(
          (WEXITSTATUS(status) == 130 || WEXITSTATUS(status) == 143));  // the one that came second
    check_goes_on(desk, folder, resumed(desk, folder));
  }
}

TEST_CASE("interrupts: a hangup saves when no process reads the run's messages any more") {
  const Desk desk;
  REQUIRE(fledge_says(run_in(desk, "whole")).status == 0);
  const std::string pipe = desk / "errors";
  REQUIRE(mkfifo(pipe.c_str(), 0600) == 0);
  const int reader = open(pipe.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
  REQUIRE(reader >= 0);
  Running run(run_in(desk, "run") + Words{"-q"}, pipe);  // only what it says at the end
  REQUIRE(run.says("\"step\":2,"));
  close(reader);
  run.signal(SIGHUP);
  CHECK(WTERMSIG(run.end()) == SIGHUP);
  check_goes_on(desk, "run", resumed(desk, "run"));
}

TEST_CASE("interrupts: a run that the shell stops and continues is as if it had not stopped") {
  const Desk desk;
  REQUIRE(fledge_says(run_in(desk, "whole")).status == 0);
  Running run(run_in(desk, "run"));
  REQUIRE(run.says("\"step\":2,"));
  run.signal(SIGTSTP);
  std::this_thread::sleep_for(std::chrono::milliseconds(100));
  run.signal(SIGCONT);
  CHECK(run.end() == 0);
  CHECK((files_in(desk / "run") == files_in(desk / "whole")));
}

TEST_CASE("interrupts: a second trainer is kept out of the folder, and changes nothing") {
  const Desk desk;
  Running first(Words{"train", desk.poems(), "-o", desk / "run"} + paced);
  REQUIRE(first.says("\"step\":1,"));
  first.signal(SIGSTOP);
  const auto before = files_in(desk / "run");
  for (const Words& words : {Words{"train", desk.poems(), "-o", desk / "run", "--force"},
                             Words{"train", "--resume", desk / "run"}}) {
    const Result second = fledge_says(words);
    CHECK(second.status == 1);
    CHECK_THAT(
        second.err,
        ContainsSubstring("/run': another process is using it\n") &&
            EndsWith(" wait until the other run has ended, or name another folder: -o DIR\n"));
  }
  CHECK((files_in(desk / "run") == before));
}

TEST_CASE("interrupts: more steps, and another rate, stay the run's own after a stop") {
  const Desk desk;
  REQUIRE(fledge_says(run_in(desk, "whole")).status == 0);
  std::filesystem::copy(desk / "whole", desk / "further");
  const Words further{"--steps", "300", "--lr", "0.002", "--json"};
  REQUIRE(fledge_says(resumed(desk, "whole") + further).status == 0);
  Running run(resumed(desk, "further") + further);
  REQUIRE(run.says("\"step\":160,"));
  run.signal(SIGINT);
  CHECK(WIFSIGNALED(run.end()));
  check_goes_on(desk, "further", resumed(desk, "further"));
}

TEST_CASE("interrupts: between the best evaluation and the message that the model overfits") {
  const Desk desk;
  write_text(desk.poems(), small_text(25));
  const Words by_heart{"train",     desk.poems(), "--tokens", "word", "--layers",     "1",
                       "--width",   "32",         "--heads",  "1",    "--patience",   "0",
                       "--context", "16",         "--batch",  "8",    "--dropout",    "0",
                       "--steps",   "300",        "--lr",     "0.02", "--eval-every", "20",
                       "--json"};
  const Result whole = fledge_says(by_heart + Words{"-o", desk / "whole"});
  const std::string found = "\"since\":";
  const std::size_t at = whole.out.find(found, whole.out.find("{\"type\":\"overfitting\""));
  REQUIRE(at != whole.out.npos);
  const std::string since = std::to_string(std::atoi(whole.out.c_str() + at + found.size()));
  Running run(by_heart + Words{"-o", desk / "stopped"});
  REQUIRE(run.says("{\"type\":\"best\",\"step\":" + since));
  run.signal(SIGTERM);
  run.end();
  check_goes_on(desk, "stopped", {"train", "--resume", desk / "stopped"});
}

TEST_CASE("interrupts: Ctrl-C breaks off what is in hand, within a second of work") {
  const Desk desk;
  write_text(desk / "long.txt", small_text(6000));
  const Words line{"train",     desk / "long.txt",
                   "-o",        desk / "run",
                   "--layers",  "4",
                   "--heads",   "4",
                   "--width",   "64",
                   "--context", "64",
                   "--steps",   "2",
                   "--valid",   "0.6",
                   "--json"};
  // A step that takes seconds, and a last evaluation that takes longer still.
  const char* many = sanitized ? "8" : "40";
  for (const char* accumulate : {many, "1"}) {
    CAPTURE(accumulate);
    const bool in_step = accumulate == many;
    const std::string errors = desk / "err";
    Running run(line + Words{"--accumulate", accumulate, "--batch", "12", "--force"}, errors);
    REQUIRE(run.says("\"type\":\"start\""));
    const double begin = run.processor_seconds();
    REQUIRE(run.says(in_step ? "\"step\":1," : "\"step\":2,"));
    const double step = run.processor_seconds() - begin;
    run.signal(SIGINT);
    CHECK(WTERMSIG(run.end()) == SIGINT);
    const double took = run.processor_seconds() - begin - step;
    INFO("step " << step << " s, afterwards " << took << " s");
    if (!sanitized) CHECK(took < 1);
    if (in_step) CHECK(took < 0.7 * step);
    CHECK_THAT(text_of(errors), ContainsSubstring(in_step ? "\nStopping after step 1 (Ctrl-C"
                                                          : "\nStopping after "));
    CHECK(text_of(errors).find("Done:") == std::string::npos);
    CHECK(fledge_says({"generate", desk / "run", "--tokens-out", "2"}).status == 0);
  }
}

TEST_CASE("interrupts: until the first step Ctrl-C ends the run at once") {
  const Desk desk;
  std::mt19937 draw(7);
  std::string noise;
  for (int i = 0; i < 3'000'000; ++i) noise += static_cast<char>(draw() % 256);
  write_text(desk / "noise", noise);
  // The tables of so many different bytes take seconds.
  Running run({"train", desk / "noise", "--tokens", "byte", "-o", desk / "run"}, desk / "err");
  while (text_of(desk / "err").find("parameters.") == std::string::npos)
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  const double begin = run.processor_seconds();
  run.signal(SIGINT);
  CHECK(WTERMSIG(run.end()) == SIGINT);
  CHECK(run.processor_seconds() - begin < 0.5);
}

TEST_CASE("interrupts: Ctrl-C at any moment, and what goes on ends in the same bytes") {
  const Desk desk;
  write_text(desk.poems(), small_text(1500));
  const Words line{"train",   desk.poems(),   "--layers",  "2",         "--heads",
                   "2",       "--width",      "32",        "--batch",   "4",
                   "--valid", "0.4",          "--context", "32",        "--steps",
                   "12",      "--watch",      "b:i",       "--dropout", "0.1",
                   "--json",  "--eval-every", "3"};
  Running whole(line + Words{"-o", desk / "whole"});
  CHECK(whole.end() == 0);
  const double all = whole.processor_seconds();
  std::mt19937 draw(11);
  int stopped = 0, status = -1;
  const int parts = sanitized ? 5 : 12;
  for (int part = 0; status != 0 && part < 200; ++part) {
    const bool begins = !std::filesystem::exists(desk / "parts/run.safetensors");
    Running run(begins ? line + Words{"-o", desk / "parts", "--force"}
                       : resumed(desk, "parts") + Words{"--json"});
    if (part < parts) {
      const double wait = all * static_cast<double>(draw()) / 4294967296.0;
      double now = -1;  // until it has worked so long, or works no more
      while (run.processor_seconds() < wait && run.processor_seconds() > now) {
        now = run.processor_seconds();
        std::this_thread::sleep_for(std::chrono::milliseconds(20));
      }
      run.signal(SIGINT);
    }
    status = run.end();
    if (status != 0) ++stopped;
    if (status != 0) REQUIRE(WTERMSIG(status) == SIGINT);
  }
  CHECK(stopped >= parts / 4);
  CHECK(status == 0);
  CHECK((files_in(desk / "parts") == files_in(desk / "whole")));
}

TEST_CASE("interrupts: killed again and again, without a step lost or taken twice", "[kills]") {
  const char* wish = std::getenv("FLEDGE_KILLS");
  const int kills = wish ? std::atoi(wish) : 12;
  const Desk desk;
  const auto begun = [&](const std::string& folder) {
    Words line = run_in(desk, folder);
    line.resize(line.size() - 3);  // "--steps", "150", "--json"
    return line + Words{"--steps", std::to_string(20 + 10 * kills)};
  };
  REQUIRE(fledge_says(begun("whole")).status == 0);
  std::mt19937 draw(static_cast<unsigned>(kills));
  int killed = 0, too_early = 0;
  const auto has_begun = [&] { return std::filesystem::exists(desk / "killed/run.safetensors"); };
  for (int tries = 0; killed < kills; ++tries) {
    REQUIRE(tries < 20 * kills);
    Running run((has_begun() ? resumed(desk, "killed") : begun("killed")) +
                Words{"--save-every", "0"});
    // On a slow machine 60 ms may be too short for a run to begin, so later tries take longer.
    const auto most = static_cast<unsigned>(60000 * (1 + too_early / 2));
    std::this_thread::sleep_for(std::chrono::microseconds(draw() % most));
    run.signal(SIGKILL);
    const bool was_killed = WIFSIGNALED(run.end());
    killed += was_killed && has_begun();
    too_early = has_begun() ? 0 : too_early + 1;
    if (has_begun())  // whenever it is there it loads
      CHECK(fledge_says({"generate", desk / "killed", "--tokens-out", "0"}).status == 0);
  }
  check_goes_on(desk, "killed", resumed(desk, "killed"));
}
