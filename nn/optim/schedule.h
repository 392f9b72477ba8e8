// How the rate changes over a run.
//
// Not here: the step that has it (adamw.h, sgd.h). Key idea: the rate is a function of the step
// alone, so a run that is resumed goes on where it stood.
#pragma once

#include <cmath>
#include <cstdint>
#include <numbers>

#include "engine/base/errors.h"

namespace fledge {

/// Linear warm-up, then half a cosine down to `least` of the rate (Loshchilov & Hutter 2017, eq.
/// 5):
///
///   rate·(step + 1) / warmup                                                      step < warmup
///   rate·(least + (1 − least)·½·(1 + cos(π·p))),  p = (step − warmup) / (steps − warmup)    then
///
/// Steps are counted from 0; from `steps` on the rate stays at least·rate. least = 1: no descent.
struct CosineSchedule {
  double rate = 1e-3;
  double least = 0.1;  // of the rate, at the end
  std::int64_t warmup = 0, steps = 1;

  /// Throws ValueError for a negative step, a rate that is negative or not finite, `least` outside
  /// [0, 1], and a warm-up outside 0 … steps.
  double at(std::int64_t step) const {
    require<ValueError>(step >= 0, "CosineSchedule", "steps are counted from 0: got ", step);
    require<ValueError>(std::isfinite(rate) && rate >= 0, "CosineSchedule",
                        "the rate must be finite and at least 0: got ", rate);
    require<ValueError>(least >= 0 && least <= 1, "CosineSchedule",
                        "the least rate is a share of the rate, 0 to 1: got ", least);
    require<ValueError>(warmup >= 0 && warmup <= steps, "CosineSchedule",
                        "the warm-up must be within the ", steps, " steps: got ", warmup);
    if (step >= steps) return rate * least;
    if (step < warmup) return rate * static_cast<double>(step + 1) / static_cast<double>(warmup);
    const double p = static_cast<double>(step - warmup) / static_cast<double>(steps - warmup);
    return rate * (least + (1 - least) * 0.5 * (1 + std::cos(std::numbers::pi * p)));
  }
};

}  // namespace fledge
