// The median time of many runs.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <vector>

namespace fledge::bench {

/// Seconds of one run of f: the median of at least five, after two that warm up, within about
/// `budget` seconds or for exactly `count` runs.
template <class F>
double median_seconds(F f, double budget = 0.5, std::int64_t count = 0) {
  using Clock = std::chrono::steady_clock;
  const auto run = [&] {
    const auto begin = Clock::now();
    f();
    return std::chrono::duration<double>(Clock::now() - begin).count();
  };
  run();
  run();
  std::vector<double> seconds;
  double total = 0;
  const auto enough = [&] {
    const auto runs = static_cast<std::int64_t>(seconds.size());
    return count > 0 ? runs >= count : runs >= 5 && total >= budget;
  };
  while (!enough()) {
    seconds.push_back(run());
    total += seconds.back();
  }
  const auto middle = seconds.begin() + static_cast<std::ptrdiff_t>(seconds.size() / 2);
  std::nth_element(seconds.begin(), middle, seconds.end());
  return *middle;
}

}  // namespace fledge::bench
