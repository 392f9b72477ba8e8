// The best and the median time of many runs, and two pieces of work that are measured in turn.
//
// Machines change their speed within seconds: another program uses the same core for a while. So a
// piece of work and what it is compared with must run in the same seconds.
#pragma once

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <functional>
#include <limits>
#include <utility>
#include <vector>

namespace fledge::bench {

using Clock = std::chrono::steady_clock;

inline double seconds_since(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

inline double median(std::vector<double> numbers) {
  const auto middle = numbers.begin() + static_cast<std::ptrdiff_t>(numbers.size() / 2);
  std::nth_element(numbers.begin(), middle, numbers.end());
  if (numbers.size() % 2 == 1) return *middle;
  return (*std::max_element(numbers.begin(), middle) + *middle) / 2;
}

/// Seconds of one run.
struct Times {
  double best = 0, median = 0;
};

/// Runs a function again and again, and keeps the seconds of each run.
class Timer {
 public:
  static constexpr std::int64_t no_end = std::numeric_limits<std::int64_t>::max();

  static constexpr double shortest = 20e-6;

  explicit Timer(std::function<void()> f) : f_(std::move(f)) {}

  /// Two runs that are not counted. After them, several short runs are timed as one, which lasts
  /// about `least` seconds: reading the clock takes 30 ns. Returns how long one timing lasts.
  double warm_up(double least = shortest) {
    measured(1);
    const double once = measured(1);
    together_ = std::max<std::int64_t>(1, std::llround(least / std::max(once, 1e-9)));
    return static_cast<double>(together_) * once;
  }

  /// Runs the function until `seconds` have passed: at least once, at most `most` times. Returns
  /// the seconds that have passed.
  double run(double seconds, std::int64_t most = no_end) {
    double total = 0;
    for (std::int64_t done = 0; done == 0 || (done < most && total < seconds);) {
      const std::int64_t count = std::min(together_, std::max<std::int64_t>(1, most - done));
      const double passed = measured(count);
      seconds_.push_back(passed / static_cast<double>(count));
      total += passed;
      done += count;
      runs_ += count;
    }
    return total;
  }

  std::int64_t runs() const { return runs_; }
  std::size_t timings() const { return seconds_.size(); }
  /// Of all timings; there must be one.
  Times times() const {
    return {*std::min_element(seconds_.begin(), seconds_.end()), bench::median(seconds_)};
  }

 private:
  double measured(std::int64_t count) const {
    const auto begin = Clock::now();
    for (std::int64_t i = 0; i < count; ++i) f_();
    return seconds_since(begin);
  }

  std::function<void()> f_;
  std::vector<double> seconds_;  // of one run, by each timing
  std::int64_t together_ = 1, runs_ = 0;
};

inline constexpr double work_turn = 0.02;  // seconds of work, then a quarter as long of its limit
inline constexpr std::size_t least_turns = 5;  // timings of each

struct Turns {
  Times work, limit;
};

/// The work and its limit run in turn, for about `budget` seconds or until the work has run `count`
/// times. A timing of the limit lasts about a quarter of one of the work, if the limit is that
/// short: then both feel the same changes of the machine.
inline Turns in_turn(Timer work, Timer limit, double budget = 0.6, std::int64_t count = 0) {
  limit.warm_up(std::max(Timer::shortest, work.warm_up() / 4));
  const auto begin = Clock::now();
  const auto enough = [&] {
    if (count > 0) return work.runs() >= count;
    return std::min(work.timings(), limit.timings()) >= least_turns &&
           seconds_since(begin) >= budget;
  };
  while (!enough())
    limit.run(work.run(work_turn, count > 0 ? count - work.runs() : Timer::no_end) / 4);
  return {work.times(), limit.times()};
}

/// The median of `count` runs, after two that warm up.
inline double median_seconds(std::function<void()> f, std::int64_t count) {
  Timer timer(std::move(f));
  timer.warm_up(0);
  timer.run(std::numeric_limits<double>::infinity(), count);
  return timer.times().median;
}

}  // namespace fledge::bench
