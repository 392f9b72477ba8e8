// The median and the best time of many runs.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <vector>

namespace fledge::bench {

using Clock = std::chrono::steady_clock;

inline double seconds_since(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

inline double median(std::vector<double> numbers) {
  const auto middle = numbers.begin() + static_cast<std::ptrdiff_t>(numbers.size() / 2);
  std::nth_element(numbers.begin(), middle, numbers.end());
  return *middle;
}

/// Seconds of each of at least five runs of f, after two that warm up, within about `budget` seconds
/// or for exactly `count` runs.
template <class F>
std::vector<double> timed(F f, double budget, std::int64_t count = 0) {
  const auto run = [&] {
    const auto begin = Clock::now();
    f();
    return seconds_since(begin);
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
  return seconds;
}

template <class F>
double median_seconds(F f, double budget = 0.5, std::int64_t count = 0) {
  return median(timed(f, budget, count));
}

template <class F>
double best_seconds(F f, double budget) {
  const std::vector<double> seconds = timed(f, budget);
  return *std::min_element(seconds.begin(), seconds.end());
}

}  // namespace fledge::bench
