// What a row is compared with: work on the same threads that takes as little time as this machine
// allows. It runs in turn with the row.
#pragma once

#include <functional>
#include <string>
#include <utility>

#include "engine/array.h"
#include "examples/fledge/bench/bench.h"

namespace fledge {
struct LanguageModel;
}

namespace fledge::bench {

struct Limit {
  std::string name;           // for the table
  std::function<void()> run;  // all threads
  double runs = 1;            // as many take the least time that one run of the row can take
};

/// Multiply-adds on registers, two operations each, as many as the row has operations.
Limit multiply_adds(double flops);
/// An op that computes almost nothing, forward and backward, on new arrays as the row's: y = x + 1,
/// then dx = dy + y. Caches help it as they help the row.
Limit memory(const Array& x, const Array& dy);
/// Reads every weight that a token needs, where it lies.
Limit reading(const LanguageModel& model);
/// Bytes that reading() reads.
double bytes_of_token(const LanguageModel& model);

/// The row with the times of both.
Row with_times(Row row, const Limit& limit, const Turns& times);
/// The same; `work` is measured here, in turn with the limit.
Row measured(Row row, std::function<void()> work, const Limit& limit, double budget = 0.6,
             std::int64_t count = 0);

}  // namespace fledge::bench
