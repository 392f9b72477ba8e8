// How the rate changes over a run.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numbers>

namespace fledge {

/// Linear warm-up, then half a cosine down to `least` of the rate (Loshchilov & Hutter 2017, eq. 5):
///
///   rate·(step + 1) / warmup                                     step < warmup
///   rate·(least + (1 − least)·½·(1 + cos(π·p))),  p = (step − warmup) / (steps − warmup)     then
///
/// steps are counted from 0; from `steps` on the rate stays at least·rate.
struct CosineSchedule {
  double rate = 1e-3;
  double least = 0.1;  // of the rate, at the end
  std::int64_t warmup = 0, steps = 1;

  double at(std::int64_t step) const {
    if (step < warmup) return rate * static_cast<double>(step + 1) / static_cast<double>(warmup);
    if (step >= steps) return rate * least;
    const double p = static_cast<double>(step - warmup) / static_cast<double>(std::max<std::int64_t>(steps - warmup, 1));
    return rate * (least + (1 - least) * 0.5 * (1 + std::cos(std::numbers::pi * p)));
  }
};

}  // namespace fledge
