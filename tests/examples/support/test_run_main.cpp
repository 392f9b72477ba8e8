// A program's errors and their statuses. What cannot be written: birds/test_birds_command.cpp.
#include <unistd.h>

#include <cstdio>
#include <new>

#include "examples/support/run_main.h"
#include "tests/support/catch.h"
#include "tests/support/process.h"

using namespace support;
using testing::Result;
using testing::run_here;

namespace {

Result main_with(const std::function<int()>& body) {
  return run_here([&] { return run_main("birds", body); });
}

}  // namespace

TEST_CASE("run_main: an error is its status and one harmless line, with what to do") {
  const auto check = [](const auto& error, int status, const std::string& said) {
    const Result failed = main_with([&error]() -> int { throw error; });
    CHECK(failed.status == status);
    CHECK(failed.out.empty());
    CHECK(failed.err == said);
  };
  check(std::runtime_error("matmul: (2, 3)\x1b[2J\nand (4, 5)"), 1,
        "birds: matmul: (2, 3)\\x1b[2J\\x0aand (4, 5)\n");
  check(std::bad_alloc(), 1, "birds: out of memory: use smaller sizes\n");
  check(42, 1, "birds: stopped by an error without a message\n");
  check(InputError("cannot read 'a\nb'", "look\x1b[2J"), 3,
        "birds: cannot read 'a\\x0ab'\n       look\\x1b[2J\n");
  check(UsageError("no song", "name one"), 2, "birds: no song\n       name one\n");
  const std::string room = "\n       make room on the disk; then try again\n";
  check(fledge::WriteError("write", "x", ENOSPC), 1,
        "birds: cannot write 'x': no space left on device" + room);
  const Result half = main_with([]() -> int {
    dup2(STDOUT_FILENO, STDERR_FILENO);  // the order in one file
    std::fputs("half, ", stdout);
    throw std::runtime_error("then this");
  });
  CHECK(half.out == "half, birds: then this\n");
}

TEST_CASE("run_main: what nothing catches is one harmless line, for which no memory is needed") {
  const auto terminated = [](const auto& error) {
    const std::function<int()> body = [&]() -> int { throw error; };
    return run_here([&] { return run_main("birds", [&]() noexcept { return body(); }); });
  };
  const std::string internal = "birds: stopped by an internal error";
  for (const auto& [result, said] :
       {std::pair{terminated(std::bad_alloc()),
                  std::string("birds: out of memory: use smaller sizes")},
        {terminated(std::runtime_error("a\x1b[2J\n\xc3")), internal + ": a?[2J??"},
        {terminated(42), internal},
        {terminated(std::runtime_error(std::string(10000, 'x'))),
         internal + ": " + std::string(500 - internal.size() - 2, 'x')},
        {run_here(
             [] { return run_main(std::string(1000, 'b'), []() -> int { std::terminate(); }); }),
         std::string(31, 'b') + ": out of memory: use smaller sizes"}}) {
    CHECK(result.status == 1);
    CHECK(result.err == said + "\n");
  }
}

TEST_CASE("with_advice: what nn throws about its input is unusable, with what to do") {
  const auto check = [](const auto& error, int status, const std::string& said) {
    const Result refused = main_with([&error] {
      return with_advice(
          "restore it", [&error]() -> int { throw error; }, "'x'");
    });
    CHECK(refused.status == status);
    CHECK_THAT(refused.err, StartsWith("birds: " + said));
  };
  check(fledge::FileError("read", "x", ENOENT), 3,
        "cannot read 'x': no such file or directory\n       restore it");
  check(fledge::FormatError("no JSON"), 3, "'x': no JSON\n       restore it");
  check(fledge::ValueError("too small"), 3, "'x': too small");
  check(InputError("none", "other"), 3, "none\n       other");
  check(fledge::WriteError("write", "x", EIO), 1, "cannot write 'x'");
  CHECK(with_advice("", [] { return 7; }) == 7);
}
