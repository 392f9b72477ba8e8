// The helper that other tests run programs with.
#include "tests/support/process.h"

#include <stdexcept>

#include "tests/support/catch.h"

using namespace testing;

TEST_CASE("process: status, output and input") {
  const Result result = run({"sh", "-c", "read line; echo \"out $line\"; echo err >&2; exit 7"}, {},
                            "first\nsecond\n");
  CHECK(result.status == 7);
  CHECK(result.out == "out first\n");
  CHECK(result.err == "err\n");
  CHECK(run({"sh", "-c", "kill -9 $$"}).status == 128 + 9);
  CHECK(run({"cat"}).out.empty());
  CHECK_THROWS_AS(run({"no-such-program-anywhere"}), std::runtime_error);
  CHECK_THROWS_AS(run({}), std::invalid_argument);
}

TEST_CASE("process: a million bytes in and out on both streams") {
  const std::string text(1000000, 'x');
  const Result result = run({"sh", "-c", "tee /dev/stderr"}, {}, text);
  CHECK(result.out == text);
  CHECK(result.err == text);
}

TEST_CASE("process: the environment is the test's, not the developer's") {
  const Environment extra{{"NO_COLOR", "1"}, {"WORD", "walk"}};
  CHECK(run({"sh", "-c", "echo $NO_COLOR$WORD"}, extra).out == "1walk\n");
  CHECK(run({"sh", "-c", "echo \"$NO_COLOR$FORCE_COLOR$LANG$LC_ALL$COLUMNS\""}).out == "\n");
  CHECK_FALSE(run({"sh", "-c", "echo $PATH"}).out == "\n");
}

TEST_CASE("process: a terminal is recognised, and a pipe is not one") {
  const std::vector<std::string> ask{"sh", "-c",
                                     "test -t 0 && test -t 1 && test -t 2 && echo yes; stty size"};
  const Result terminal = run_on_terminal(ask, {}, 93);
  CHECK(terminal.status == 0);
  CHECK(terminal.out == "yes\n24 93\n");
  CHECK(terminal.err.empty());
  CHECK(run({"sh", "-c", "test -t 0 || test -t 1 || test -t 2"}).status == 1);
  const std::vector<std::string> kind{"sh", "-c", "printf %s \"$TERM\"; echo x >&2; exit 3"};
  CHECK(run_on_terminal(kind).out == "xterm-256colorx\n");
  CHECK(run_on_terminal(kind, {{"TERM", "dumb"}}).out == "dumbx\n");
  CHECK(run_on_terminal(kind).status == 3);
  CHECK(run_on_terminal(
            {"sh", "-c", "i=0; while [ $i -lt 5000 ]; do echo 123456789; i=$((i+1)); done"})
            .out.size() == 50000);
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
  CHECK(result.out == "out");
  CHECK(result.err == "err");
  CHECK_THROWS_AS(run_here([] { return 0; }, "/nowhere/at/all"), std::runtime_error);
}
