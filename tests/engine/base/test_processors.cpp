#include "engine/base/processors.h"

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "tests/support/catch.h"
#include "tests/support/folder.h"
#include "tests/support/process.h"

#ifdef __linux__
#include <sched.h>
#endif

using namespace fledge;
namespace fs = std::filesystem;

TEST_CASE(
    "processors: a quota is rounded up, and the smallest of a group and those above it holds") {
  using Files = std::vector<std::pair<std::string, std::string>>;
  struct Row {
    std::string groups;  // of this process, as /proc/self/cgroup lists them
    Files quotas;        // of groups
    int expected;        // 0: no limit
  };
  const Files b{{"a/b", "300000 100000\n"}}, a_b{{"a", "200000 100000\n"}, b[0]},
      all{{"", "100000 100000\n"}, a_b[0], b[0]}, box{{"box", "350000 100000\n"}};
  std::vector<Row> rows = {
      {"0::/a/b\n", b, 3},
      {"0::/a/b/c\n", b, 3},  // of a container, whose own path is not mounted
      {"0::/a\n", b, 0},
      {"0::/a/b\n", a_b, 2},
      {"0::/a/b\n", all, 1},
      {"0::/other\n", all, 1},
      {"0::/../elsewhere", all, 1},
      // the line of version 2 counts, wherever it stands
      {"9:cpuset:/other\n4:cpu,cpuacct:/other\n0::/box\n", box, 4},
      {"0::/box\n1:name=systemd:/box", box, 4},
      {"9:cpuset:/box\n4:cpu,cpuacct:/box\n", box, 0},
      {"1:name=10::/box\n", box, 0},
  };
  for (const auto& [text, expected] :
       std::vector<std::pair<std::string, int>>{{"max 100000\n", 0},
                                                {"200000 100000\n", 2},
                                                {"250000 100000\n", 3},
                                                {"100001 100000\n", 2},
                                                {"20000 100000\n", 1},
                                                {"1000 1000000\n", 1},
                                                {"6400000 50000\n", 128},
                                                {"", 0},
                                                {"0 0\n", 0},
                                                {"nonsense\n", 0}})
    rows.push_back({"0::/\n", {{"", text}}, expected});
  for (const char* none : {"", "\n", "0", "0:", "x:y", ":::\n"}) rows.push_back({none, all, 0});
  for (const Row& row : rows) {
    const testing::Folder mount;
    for (const auto& [group, text] : row.quotas) {
      fs::create_directories(fs::path(mount.path()) / group);
      testing::write_file(mount / group + "/cpu.max", text);
    }
    INFO(row.groups << row.quotas.back().second);
    CHECK(processors_of_quota(row.groups, mount.path()) == row.expected);
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
