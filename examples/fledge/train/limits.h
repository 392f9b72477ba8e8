// The ranges of a run's numbers: the same on the command line and in config.json.
#pragma once

#include "nn/gpt/config.h"

namespace fledge::train::limits {

inline constexpr std::int64_t layers = most_layers, heads = 10'000, width = 1'000'000,
                              context = 1'000'000;
inline constexpr std::int64_t least_width = 2;  // layer norm of one number is constant
inline constexpr std::int64_t batch = 1'000'000, accumulate = 100'000;
inline constexpr std::int64_t steps = 1'000'000'000;  // and warm-up, evaluations, patience
inline constexpr double rate = 1e6;                   // and decay, clipping
inline constexpr double dropout = 0.99;
inline constexpr double valid = 1e9;

}  // namespace fledge::train::limits
