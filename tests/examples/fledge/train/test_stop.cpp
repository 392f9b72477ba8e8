// What asks a run to stop, and that it saves whoever may be gone.
#include <fcntl.h>
#include <sys/stat.h>

#include <thread>

#include "tests/examples/fledge/training.h"

using namespace fledge::testing;

namespace {

/// The tiny run, slow enough that a signal meets it in its first steps.
Words slow_run(const Desk& desk, const std::string& folder) {
  return Words{"train", desk.poems(), "-o", desk / folder, "--pace", "10"} + tiny;
}

void check_goes_on(const Desk& desk, const std::string& folder) {
  const Result rest = fledge_says({"train", "--resume", desk / folder});
  INFO(rest.err);
  CHECK(rest.status == 0);
  CHECK_THAT(rest.err,
             !ContainsSubstring("going on after step 0"));  // it would, had nothing been saved
  trained({desk.poems(), "-o", desk / "whole"});
  CHECK((files_in(desk / folder) == files_in(desk / "whole")));
}

}  // namespace

TEST_CASE("fledge train: SIGHUP and SIGTERM save and stop as SIGINT does", "[SG03]") {
  for (const int signal : {SIGHUP, SIGTERM, SIGINT}) {
    CAPTURE(signal);
    const Desk desk;
    const std::string errors = desk / "err";
    Running run(slow_run(desk, "run") + Words{"--json"}, errors);
    REQUIRE(run.says("\"step\":2,"));
    run.signal(signal);
    const int status = run.end();
    CHECK(WIFSIGNALED(status));  // 128 + 1 = 129 to a shell
    CHECK(WTERMSIG(status) == signal);
    CHECK_THAT(text_of(errors), ContainsSubstring("\nsaved " + (desk / "run") + ". go on with: "));
    check_goes_on(desk, "run");
  }
}

TEST_CASE("fledge train: a hangup that comes twice is one", "[SG03]") {
  const Desk desk;
  Running run(slow_run(desk, "run") + Words{"--json"});
  REQUIRE(run.says("\"step\":2,"));
  run.signal(SIGHUP);
  std::this_thread::sleep_for(std::chrono::milliseconds(10));  // two at once are one to a process
  run.signal(SIGHUP);
  CHECK(WTERMSIG(run.end()) == SIGHUP);
  check_goes_on(desk, "run");
}

TEST_CASE("fledge train: a hangup saves when nobody reads its messages any more", "[SG03]") {
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

TEST_CASE("fledge train: stopped and continued by the shell it changes nothing", "[SG03]") {
  const Desk desk;
  Running run(slow_run(desk, "run") + Words{"--json"});
  REQUIRE(run.says("\"step\":2,"));
  run.signal(SIGTSTP);
  std::this_thread::sleep_for(std::chrono::milliseconds(100));
  run.signal(SIGCONT);
  CHECK(run.end() == 0);
  check_goes_on(desk, "run");
}
