// How much memory this program has used at most.
#pragma once

#include <sys/resource.h>

namespace fledge::support {

inline double peak_megabytes() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_maxrss) / 1024;
}

}  // namespace fledge::support
