// Seconds of the processor, which other programs on the machine do not lengthen.
#pragma once

#include <ctime>
#include <functional>

namespace testing {

/// The seconds that f() takes of all processors.
inline double processor_seconds(const std::function<void()>& f) {
  const std::clock_t begin = std::clock();
  f();
  return static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC;
}

}  // namespace testing
