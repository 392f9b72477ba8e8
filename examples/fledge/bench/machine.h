// What limits this machine: multiply-adds, the traffic of memory, and reading it. A row of the
// table is compared with work on the same threads that takes as little time as this machine allows.
#pragma once

#include <functional>
#include <string>

#include "engine/array.h"
#include "nn/gpt/language_model.h"

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

}  // namespace fledge::bench
