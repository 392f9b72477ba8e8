#include "engine/base/processors.h"

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "tests/support/catch.h"
#include "tests/support/process.h"

#ifdef __linux__
#include <sched.h>
#endif

using namespace fledge;
namespace fs = std::filesystem;

TEST_CASE("processors: a quota is rounded up, and what is none is none") {
  const std::vector<std::pair<const char*, int>> rows = {{"max 100000\n", 0},
                                                         {"200000 100000\n", 2},
                                                         {"250000 100000\n", 3},
                                                         {"100001 100000\n", 2},
                                                         {"20000 100000\n", 1},
                                                         {"1000 1000000\n", 1},
                                                         {"6400000 50000\n", 128},
                                                         {"", 0},
                                                         {"0 0\n", 0},
                                                         {"-1 100000\n", 0},
                                                         {"100000\n", 0},
                                                         {"nonsense\n", 0}};
  for (const auto& [text, expected] : rows) {
    INFO(text);
    CHECK(processors_of_quota(text) == expected);
  }
}

TEST_CASE("how many processors may be used", "[.environment]") {
  // Run by the next test, in a process that may run on one processor.
  CHECK(available_processors() == 1);
}

TEST_CASE("processors: those that this process may run on") {
#ifdef __linux__
  cpu_set_t before;
  REQUIRE(sched_getaffinity(0, sizeof before, &before) == 0);
  CHECK(available_processors() >= 1);
  CHECK(available_processors() <= CPU_COUNT(&before));
  int first = 0;
  while (!CPU_ISSET(first, &before)) ++first;
  cpu_set_t one;
  CPU_ZERO(&one);
  CPU_SET(first, &one);
  REQUIRE(sched_setaffinity(0, sizeof one, &one) == 0);  // a new process inherits it
  const auto result = testing::run(
      {fs::read_symlink("/proc/self/exe").string(), "how many processors may be used"});
  REQUIRE(sched_setaffinity(0, sizeof before, &before) == 0);
  INFO(result.out);
  CHECK(result.status == 0);
#else
  CHECK(available_processors() >= 1);
#endif
}
