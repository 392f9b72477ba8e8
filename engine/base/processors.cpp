#include "engine/base/processors.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <thread>
#include <vector>

#ifdef __linux__
#include <sched.h>
#endif

namespace fledge {

namespace {

constexpr int most_processors = 1 << 16;

// At most 4,096 bytes of a file; none when it cannot be read.
std::string beginning_of(const std::string& path) {
  char text[4096];
  std::FILE* const file = std::fopen(path.c_str(), "r");
  if (file == nullptr) return "";
  const std::size_t size = std::fread(text, 1, sizeof text, file);
  std::fclose(file);
  return {text, size};
}

// The quota of one group in processors: microseconds of computing in each period.
double quota_of(const std::string& folder) {
  double quota = -1, period = -1;
  if (std::sscanf(beginning_of(folder + "/cpu.max").c_str(), "%lf %lf", &quota, &period) != 2) {
    quota = std::atof(beginning_of(folder + "/cpu.cfs_quota_us").c_str());
    period = std::atof(beginning_of(folder + "/cpu.cfs_period_us").c_str());
  }
  return quota > 0 && period > 0 ? quota / period : most_processors;
}

// Of the processors there are. hardware_concurrency() counts, on Linux, those that are switched on.
int allowed_processors() {
#ifdef __linux__
  for (int count = 1024; count <= most_processors; count *= 2) {  // too small a set is refused
    const std::size_t bytes = CPU_ALLOC_SIZE(count);
    std::vector<cpu_set_t> set(bytes / sizeof(cpu_set_t) + 1);
    if (sched_getaffinity(0, bytes, set.data()) == 0) return CPU_COUNT_S(bytes, set.data());
  }
#endif
  return static_cast<int>(std::thread::hardware_concurrency());
}

}  // namespace

int processors_of_quota(const std::string& groups, const std::string& mount) {
  double least = most_processors;
  for (std::size_t begin = 0; begin < groups.size();) {  // lines NUMBER:CONTROLLERS:PATH
    const std::size_t end = std::min(groups.find('\n', begin), groups.size());
    const std::string line = groups.substr(begin, end - begin);
    begin = end + 1;
    const std::size_t first = line.find(':'), second = line.find(':', first + 1);
    if (second == std::string::npos) continue;
    const std::string controllers = line.substr(first + 1, second - first - 1);
    const bool version_2 = controllers.empty();
    if (!version_2 && ("," + controllers + ",").find(",cpu,") == std::string::npos) continue;
    const std::string root = version_2 ? mount : mount + "/" + controllers;
    for (std::string path = line.substr(second + 1);; path.resize(path.rfind('/'))) {
      least = std::min(least, quota_of(root + path));
      if (path.find('/') == std::string::npos) break;
    }
  }
  return least < most_processors ? std::max(1, static_cast<int>(std::ceil(least))) : 0;
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
