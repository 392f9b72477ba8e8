// The largest amount of memory that this program has used so far.
#pragma once

#include <sys/resource.h>

namespace support {

inline double peak_megabytes() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
#ifdef __APPLE__
  constexpr double in_a_megabyte = 1024 * 1024;  // ru_maxrss counts bytes here, kilobytes elsewhere
#else
  constexpr double in_a_megabyte = 1024;
#endif
  return static_cast<double>(usage.ru_maxrss) / in_a_megabyte;
}

}  // namespace support
