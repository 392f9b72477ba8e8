// Another program in turn with a row: fledge bench gemm 512 512 512 --against "COMMAND".
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "examples/fledge/bench/bench.h"

namespace fledge::bench {

/// The times in a program's output: the first one after the word "best" and the first one after
/// "median", on the same line. A time is a number and ns, us, µs, ms or s, as in "1.5 ms" or
/// "1.5 ms/step"; a number with a comma is none. If one of the two is missing, the other counts as
/// both; without both words the first time of all does. {0, 0} without any time.
Times times_in(const std::string& output);

/// Measures the row, then runs the command by /bin/sh, and so on for some rounds. The best time of
/// each is the smallest of all rounds, the median that of the medians. Throws CommandError if the
/// command fails or prints no time.
Row against(const std::function<Row()>& work, const std::string& command, std::int64_t rounds);

}  // namespace fledge::bench
