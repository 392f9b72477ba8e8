// The learning rate as a function of the step. A resumed run therefore gets the same rates.
#pragma once

#include <cmath>
#include <cstdint>
#include <numbers>

#include "engine/base/errors.h"

namespace fledge {

/// Linear warm-up, then half a cosine down to final_ratio·rate (Loshchilov & Hutter 2017, eq. 5):
///
///   rate·(step + 1) / warmup                                    step < warmup
///   rate·(final_ratio + (1 − final_ratio)·½·(1 + cos(π·p)))     else
///   where p = (step − warmup) / (steps − warmup)
///
/// Steps are counted from 0. From step `steps` on, the rate is final_ratio·rate. With
/// final_ratio = 1 the rate stays constant after the warm-up.
struct CosineSchedule {
  double rate = 1e-3;
  double final_ratio = 0.1;  // the final rate as a share of `rate`
  std::int64_t warmup = 0, steps = 1;

  /// Throws ValueError for a negative step, a rate that is negative or not finite, `final_ratio`
  /// outside [0, 1], and a warm-up outside 0 … steps.
  double at(std::int64_t step) const {
    require<ValueError>(step >= 0, "CosineSchedule", "steps are counted from 0: got ", step);
    require<ValueError>(std::isfinite(rate) && rate >= 0, "CosineSchedule",
                        "the rate must be finite and at least 0: got ", rate);
    require<ValueError>(final_ratio >= 0 && final_ratio <= 1, "CosineSchedule",
                        "the least rate is a share of the rate, 0 to 1: got ", final_ratio);
    require<ValueError>(warmup >= 0 && warmup <= steps, "CosineSchedule",
                        "the warm-up must be within the ", steps, " steps: got ", warmup);
    if (step >= steps) return rate * final_ratio;
    if (step < warmup) return rate * static_cast<double>(step + 1) / static_cast<double>(warmup);
    const double p = static_cast<double>(step - warmup) / static_cast<double>(steps - warmup);
    return rate * (final_ratio + (1 - final_ratio) * 0.5 * (1 + std::cos(std::numbers::pi * p)));
  }
};

}  // namespace fledge
