// The signals that stop a run. It saves even if the terminal or the reader of a pipe has gone.
#include <fcntl.h>
#include <sys/stat.h>

#include <random>
#include <thread>

#include "tests/examples/fledge/training.h"
#include "tests/support/sanitized.h"

using namespace testing;

namespace {

/// The tiny run, so slow that a signal arrives in its first steps.
Words slow_run(const Desk& desk, const std::string& folder) {
  return Words{"train", desk.poems(), "-o", desk / folder, "--pace", "10"} + tiny;
}

void check_goes_on(const Desk& desk, const std::string& folder) {
  const Result rest = fledge_says({"train", "--resume", desk / folder});
  INFO(rest.err);
  CHECK(rest.status == 0);
  CHECK_THAT(
      rest.err,
      !ContainsSubstring("going on after step 0"));  // that would mean that nothing was saved
  trained({desk.poems(), "-o", desk / "whole"});
  CHECK((files_in(desk / folder) == files_in(desk / "whole")));
}

}  // namespace

TEST_CASE("fledge train: SIGHUP and SIGTERM save and stop as SIGINT does") {
  for (const int signal : {SIGHUP, SIGTERM, SIGINT}) {
    if (sanitized && signal != SIGTERM) continue;  // other tests send SIGHUP and SIGINT
    CAPTURE(signal);
    const Desk desk;
    const std::string errors = desk / "err";
    Running run(slow_run(desk, "run") + Words{"--json"}, errors);
    REQUIRE(run.says("\"step\":2,"));
    run.signal(signal);
    const int status = run.end();
    CHECK(WIFSIGNALED(status));  // 128 + 1 = 129 to a shell
    CHECK(WTERMSIG(status) == signal);
    CHECK_THAT(text_of(errors),
               ContainsSubstring("\nSaved in " + (desk / "run") + ". Continue with: "));
    check_goes_on(desk, "run");
  }
}

TEST_CASE("fledge train: a hangup that comes twice is one") {
  const Desk desk;
  Running run(slow_run(desk, "run") + Words{"--json"});
  REQUIRE(run.says("\"step\":2,"));
  run.signal(SIGHUP);
  std::this_thread::sleep_for(
      std::chrono::milliseconds(10));  // two equal signals at once may arrive as one
  run.signal(SIGHUP);
  CHECK(WTERMSIG(run.end()) == SIGHUP);
  check_goes_on(desk, "run");
}

TEST_CASE("fledge train: a hangup saves when no process reads its messages any more") {
  const Desk desk;
  const std::string pipe = desk / "errors";
  REQUIRE(mkfifo(pipe.c_str(), 0600) == 0);
  const int reader = open(pipe.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
  REQUIRE(reader >= 0);
  Running run(slow_run(desk, "run") + Words{"--json", "-q"}, pipe);  // only what it says at the end
  REQUIRE(run.says("\"step\":2,"));
  close(reader);
  run.signal(SIGHUP);
  CHECK(WTERMSIG(run.end()) == SIGHUP);
  check_goes_on(desk, "run");
}

TEST_CASE("fledge train: stopped and continued by the shell it changes nothing") {
  const Desk desk;
  Running run(slow_run(desk, "run") + Words{"--json"});
  REQUIRE(run.says("\"step\":2,"));
  run.signal(SIGTSTP);
  std::this_thread::sleep_for(std::chrono::milliseconds(100));
  run.signal(SIGCONT);
  CHECK(run.end() == 0);
  check_goes_on(desk, "run");
}

TEST_CASE("fledge train: Ctrl-C breaks off what is in hand, within a second of work") {
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

TEST_CASE("fledge train: until the first step Ctrl-C ends it at once") {
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

TEST_CASE("fledge train: Ctrl-C at any moment, and what goes on ends in the same bytes") {
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
    const bool begins = !std::filesystem::exists(desk / "parts/state.safetensors");
    Running run(begins ? line + Words{"-o", desk / "parts", "--force"}
                       : Words{"train", "--resume", desk / "parts", "--watch", "b:i", "--json"});
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
  for (const auto& [name, bytes] : files_in(desk / "whole"))
    CHECK((files_in(desk / "parts").at(name) == bytes));
}
