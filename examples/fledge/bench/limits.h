// The limits of this machine, as far as this run knows them, and what limits a row.
#pragma once

#include <string>
#include <vector>

#include "engine/array.h"
#include "examples/fledge/bench/bench.h"

namespace fledge::bench {

/// Rates with the threads that are set. NaN: not measured, for lack of memory. 0: not yet.
struct Limits {
  double gflops = 0;     // multiply-adds on registers, two operations each
  double gigabytes = 0;  // per second, reading and writing arrays that no cache holds
  double call = 0;       // seconds of one recorded op, forward and backward

  /// The best of several measurements, and of those before.
  void measure_gflops();
  void measure_gigabytes();
  void measure_call();
};

/// How fast all threads read memory: they sum an array that no cache holds. Machines change their
/// speed within seconds, so the work that is compared with it and measure() take turns.
class ReadRate {
 public:
  /// The array has `bytes`, but at least 256 MB: the caches of a processor hold part of less.
  explicit ReadRate(double bytes);
  /// Sums the array until `seconds` have passed, at least once.
  void measure(double seconds);
  ReadRates rates() const;

 private:
  Array numbers_;                // no array: there was no memory for it
  std::vector<double> seconds_;  // of each sum
};

/// What limits a row, and how near the row is to it.
struct Bound {
  std::string limit;          // "multiply-adds", "memory", "reading", "call overhead"; "caches":
                              // faster than memory; "": a row that is all overhead
  double share = 0;           // of the limit, at most 1; NaN if the limit is not known
  bool is_the_limit = false;  // the row was faster than the limit, and has become it
};

/// The bound of a row. A row that exceeds a limit raises it, except the rate of reading: that
/// belongs to the row.
Bound bound_of(const Row& row, Limits& limits);

/// The multiply-adds or the memory traffic of a row as a share of the limit, at most 1.
double share_of_peak(const Row& row, const Limits& limits);
/// What share_of_peak() is a share of; "" for a row that is all overhead.
std::string peak_of(const Row& row);

inline double gflops_of(const Row& row) { return row.flops / row.seconds * 1e-9; }
inline double gigabytes_of(const Row& row) { return row.bytes / row.seconds * 1e-9; }
inline double best_gigabytes_of(const Row& row) { return row.bytes / row.best_seconds * 1e-9; }

/// The fastest run beside the fastest reading, at most 1. share_of_peak() compares medians.
inline double best_share(const Row& row) {
  const double share = best_gigabytes_of(row) / row.reading.best;
  return share > 1 ? 1 : share;
}

}  // namespace fledge::bench
