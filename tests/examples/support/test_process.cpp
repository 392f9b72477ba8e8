// The helper that other tests run programs with.
#include "tests/support/process.h"

#include <stdexcept>

#include "tests/support/catch.h"

using namespace testing;

TEST_CASE("process: status, input, and all output on both streams") {
  const Result result = run({"sh", "-c", "read line; echo \"out $line\"; echo err >&2; exit 7"}, {},
                            "first\nsecond\n");
  CHECK(result.status == 7);
  CHECK(result.out == "out first\n");
  CHECK(result.err == "err\n");
  CHECK(run({"sh", "-c", "kill -9 $$"}).status == 128 + 9);
  CHECK_THROWS_AS(run({"no-such-program-anywhere"}), std::runtime_error);
  CHECK_THROWS_AS(run({}), std::invalid_argument);
  const std::string text(1000000, 'x');
  const Result large = run({"sh", "-c", "tee /dev/stderr"}, {}, text);
  CHECK((large.out == text && large.err == text));
}

TEST_CASE("process: the environment is the test's, and a terminal only where it is asked for") {
  CHECK(run({"sh", "-c", "echo $NO_COLOR$WORD"}, {{"NO_COLOR", "1"}, {"WORD", "walk"}}).out ==
        "1walk\n");
  CHECK(run({"sh", "-c", "echo \"$NO_COLOR$FORCE_COLOR$LANG$LC_ALL$COLUMNS\""}).out == "\n");
  CHECK(run({"sh", "-c", "test -t 0 || test -t 1 || test -t 2"}).status == 1);
  const Result terminal = run_on_terminal(
      {"sh", "-c", "test -t 0 && test -t 1 && test -t 2 && stty size; echo $TERM; exit 3"}, {}, 93);
  CHECK(terminal.out == "24 93\nxterm-256color\n");
  CHECK(terminal.err.empty());
  CHECK(terminal.status == 3);
  CHECK(run_on_terminal({"sh", "-c", "printf $TERM"}, {{"TERM", "dumb"}}).out == "dumb");
}

TEST_CASE("process: run_here runs in a copy") {
  int here = 1;
  const Result result = run_here([&] {
    here = 2;
    std::fputs("out", stdout);
    std::fputs("err", stderr);
    return 5;
  });
  CHECK(here == 1);
  CHECK(result.status == 5);
  CHECK(result.out + result.err == "outerr");
  CHECK_THROWS_AS(run_here([] { return 0; }, "/nowhere/at/all"), std::runtime_error);
}
