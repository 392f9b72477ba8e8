#include "engine/base/processors.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <thread>

#ifdef __linux__
#include <sched.h>
#endif

namespace fledge {

namespace {

// At most 4,096 bytes of a file; none when it cannot be read.
std::string beginning_of(const std::string& path) {
  char text[4096];
  std::FILE* const file = std::fopen(path.c_str(), "r");
  if (file == nullptr) return "";
  const std::size_t size = std::fread(text, 1, sizeof text, file);
  std::fclose(file);
  return {text, size};
}

// The processors that the system lets this process run on. A set holds 1,024 processors: on a
// larger machine the call fails, and all processors that are switched on are counted.
int allowed_processors() {
#ifdef __linux__
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof set, &set) == 0) return CPU_COUNT(&set);
#endif
  return static_cast<int>(std::thread::hardware_concurrency());
}

}  // namespace

int processors_of_quota(const std::string& groups, const std::string& mount) {
  const std::size_t line = ("\n" + groups).find("\n0::");  // of version 2: 0::PATH
  if (line == std::string::npos) return 0;
  constexpr double none = 1e6;  // more than any machine has
  double least = none;
  std::string path = groups.substr(line + 3, groups.find('\n', line) - line - 3);
  for (;; path.resize(path.rfind('/'))) {
    double quota = 0, period = 0;  // microseconds of computing in each period
    const std::string text = beginning_of(mount + path + "/cpu.max");
    if (std::sscanf(text.c_str(), "%lf %lf", &quota, &period) == 2 && quota > 0 && period > 0)
      least = std::min(least, quota / period);
    if (path.find('/') == std::string::npos) break;
  }
  return least < none ? static_cast<int>(std::ceil(least)) : 0;
}

int available_processors() {
  static const int count = [] {
    const int allowed = std::max(1, allowed_processors());
    const int quota = processors_of_quota(beginning_of("/proc/self/cgroup"), "/sys/fs/cgroup");
    return quota == 0 ? allowed : std::min(allowed, quota);
  }();
  return count;
}

}  // namespace fledge
