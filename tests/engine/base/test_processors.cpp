#include "engine/base/processors.h"

#include <cstdio>
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

namespace {

// A folder of control groups.
struct Groups {
  testing::Folder mount;

  void write(const std::string& file, const std::string& text) const {
    fs::create_directories(fs::path(mount / file).parent_path());
    std::FILE* out = std::fopen((mount / file).c_str(), "w");
    REQUIRE(out != nullptr);
    std::fputs(text.c_str(), out);
    std::fclose(out);
  }
  int quota(const std::string& groups) const { return processors_of_quota(groups, mount.path()); }
};

}  // namespace

TEST_CASE("processors: a quota is rounded up, and none is no limit") {
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
                                                {"nonsense\n", 0}}) {
    const Groups groups;
    groups.write("cpu.max", text);
    INFO(text);
    CHECK(groups.quota("0::/\n") == expected);
  }
}

TEST_CASE("processors: the smallest quota of a group and of those above it holds") {
  const Groups groups;
  groups.write("a/b/cpu.max", "300000 100000\n");
  CHECK(groups.quota("0::/a/b\n") == 3);
  CHECK(groups.quota("0::/a/b/c\n") == 3);  // of a container, whose own path is not mounted
  CHECK(groups.quota("0::/a\n") == 0);
  groups.write("a/cpu.max", "200000 100000\n");
  CHECK(groups.quota("0::/a/b\n") == 2);
  groups.write("cpu.max", "100000 100000\n");
  CHECK(groups.quota("0::/a/b\n") == 1);
  CHECK(groups.quota("0::/other\n") == 1);
  CHECK(groups.quota("0::/../elsewhere") == 1);
  for (const char* none : {"", "\n", "0", "0:", "x:y", ":::\n"}) {
    INFO(none);
    CHECK(groups.quota(none) == 0);
  }
}

TEST_CASE("processors: the line of version 2 counts, wherever it stands") {
  const Groups groups;
  groups.write("box/cpu.max", "350000 100000\n");
  CHECK(groups.quota("9:cpuset:/other\n4:cpu,cpuacct:/other\n0::/box\n") == 4);
  CHECK(groups.quota("0::/box\n1:name=systemd:/box") == 4);
  CHECK(groups.quota("9:cpuset:/box\n4:cpu,cpuacct:/box\n") == 0);  // version 1 is not read
  CHECK(groups.quota("1:name=10::/box\n") == 0);
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
