// The limits of this machine, as far as this run knows them, and what limits a row.
#pragma once

#include <string>

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

/// What limits a row, and how near the row is to it.
struct Bound {
  std::string limit;          // "multiply-adds", "memory", "call overhead"; "caches": faster than
                              // memory; "": a row that is all overhead
  double share = 0;           // of the limit, at most 1; NaN if the limit is not known
  bool is_the_limit = false;  // the row was faster than the limit, and has become it
};

/// The bound of a row. A row that exceeds a limit raises it.
Bound bound_of(const Row& row, Limits& limits);

/// The multiply-adds or the memory traffic of a row as a share of the limit, at most 1.
double share_of_peak(const Row& row, const Limits& limits);
/// What share_of_peak() is a share of; "" for a row that is all overhead.
std::string peak_of(const Row& row);

inline double gflops_of(const Row& row) { return row.flops / row.seconds * 1e-9; }

}  // namespace fledge::bench
