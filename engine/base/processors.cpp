#include "engine/base/processors.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <string>
#include <thread>

#ifdef __linux__
#include <sched.h>
#endif

namespace fledge {

namespace {

// A set holds 1,024 processors: on a larger machine the call fails, and all processors that are
// switched on are counted.
int allowed_processors() {
#ifdef __linux__
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof set, &set) == 0) return CPU_COUNT(&set);
#endif
  return static_cast<int>(std::thread::hardware_concurrency());
}

}  // namespace

int processors_of_quota(const char* cpu_max) {
  double quota = 0, period = 0;
  const bool has_quota = std::sscanf(cpu_max, "%lf %lf", &quota, &period) == 2;
  if (!has_quota || !(quota > 0) || !(period > 0)) return 0;
  return static_cast<int>(std::min(std::ceil(quota / period), 1e6));  // no machine has more
}

int available_processors() {
  static const int count = [] {
    std::string cpu_max;  // a container sees its own group here
    std::getline(std::ifstream("/sys/fs/cgroup/cpu.max"), cpu_max);
    const int allowed = std::max(1, allowed_processors());
    const int quota = processors_of_quota(cpu_max.c_str());
    return quota == 0 ? allowed : std::min(allowed, quota);
  }();
  return count;
}

}  // namespace fledge
