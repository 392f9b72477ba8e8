#include "examples/support/failure.h"

#include <sys/resource.h>

#include <exception>
#include <functional>
#include <new>
#include <stdexcept>
#include <string>

#include "examples/support/run_main.h"
#include "tests/support/catch.h"
#include "tests/support/process.h"

using namespace support;
using testing::Result;
using testing::run_here;

namespace {

// An exception leaves a function that must not throw: std::terminate is called.
template <class Error>
Result terminated_by(const Error& error) {
  const std::function<int()> body = [&]() -> int { throw error; };
  return run_here([&]() noexcept { return body(); });
}

}  // namespace

TEST_CASE("failure: one line, cut and made harmless") {
  const auto written = [](std::string_view sentence, std::string_view detail = "") {
    return run_here([&] {
      set_program_name("birds");
      write_failure(sentence, detail);
      return 7;
    });
  };
  CHECK(written("no ", "seed").err == "birds: no seed\n");
  CHECK(written("no ", "seed").status == 7);
  CHECK(written("a\x1b[2J\n\x7f\xc3").err ==
        "birds: a?[2J?"
        "?"
        "?\n");
  const std::string much(10000, 'x');
  CHECK(written(much).err == "birds: " + much.substr(0, 493) + "\n");
}

TEST_CASE("failure: an exception that nothing catches is one sentence and status 1") {
  set_program_name("birds");
  const Result memory = terminated_by(std::bad_alloc());
  CHECK(memory.status == 1);
  CHECK(memory.err == "birds: out of memory: use smaller sizes\n");
  const Result error = terminated_by(std::runtime_error("no wings"));
  CHECK(error.status == 1);
  CHECK(error.err == "birds: stopped by an internal error: no wings\n");
  const Result other = terminated_by(42);
  CHECK(other.status == 1);
  CHECK(other.err == "birds: stopped by an internal error\n");
  const Result none = run_here([]() -> int { std::terminate(); });
  CHECK(none.status == 1);
  CHECK(none.err == "birds: out of memory: use smaller sizes\n");  // not even for an exception
  set_program_name(std::string(1000, 'b'));
  CHECK(terminated_by(42).err == std::string(31, 'b') + ": stopped by an internal error\n");
  set_program_name("fledge");
}

TEST_CASE("failure: a stack that is too small is refused before any work") {
  rlimit before{};
  REQUIRE(getrlimit(RLIMIT_STACK, &before) == 0);
  const auto with_stack = [&](rlim_t bytes) {
    return run_here([&] {
      const rlimit small{bytes, before.rlim_max};
      return setrlimit(RLIMIT_STACK, &small) != 0 ? 99 : run_main("birds", [] { return 0; });
    });
  };
  CHECK(with_stack(least_stack).status == 0);
  const Result refused = with_stack(32 * 1024);
  CHECK(refused.status == 1);
  CHECK(refused.err == "birds: needs a stack of " + std::to_string(least_stack / 1024) +
                           " kB: the limit is 32 kB; raise it with 'ulimit -s 8192'\n");
}
