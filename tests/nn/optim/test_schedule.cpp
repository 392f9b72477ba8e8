#include "nn/optim/schedule.h"

#include "tests/support/catch.h"
#include "tests/support/refuses.h"

using namespace fledge;
using tests::refuses;

TEST_CASE("the rate climbs, stands at its height, and comes down half a cosine") {
  const CosineSchedule schedule{.rate = 2, .final_ratio = 0.1, .warmup = 10, .steps = 110};
  for (const auto& [step, rate] : std::vector<std::pair<std::int64_t, double>>{
           {0, 0.2},
           {1, 0.4},
           {4, 1.0},
           {9, 2.0},
           {10, 2.0},
           {35, 2 * (0.1 + 0.9 * (0.5 + std::sqrt(0.125)))},  // cos 45°
           {60, 2 * (0.1 + 0.9 / 2)},
           {85, 2 * (0.1 + 0.9 * (0.5 - std::sqrt(0.125)))},
           {110, 0.2},
           {111, 0.2},
           {1'000'000'000'000, 0.2}})
    CHECK_THAT(schedule.at(step), WithinAbs(rate, 1e-15));
  for (std::int64_t step = 0; step < 9; ++step) CHECK(schedule.at(step + 1) > schedule.at(step));
  for (std::int64_t step = 10; step < 110; ++step) CHECK(schedule.at(step + 1) < schedule.at(step));
}

TEST_CASE("without warm-up the first step has the whole rate; a run of warm-up alone ends") {
  CHECK(CosineSchedule{.rate = 3, .warmup = 0, .steps = 5}.at(0) == 3);
  CHECK(CosineSchedule{.rate = 3, .warmup = 0, .steps = 0}.at(0) == 3 * 0.1);
  const CosineSchedule all{.rate = 1, .final_ratio = 0.5, .warmup = 4, .steps = 4};
  CHECK(all.at(3) == 1);
  CHECK(all.at(4) == 0.5);
  CHECK(CosineSchedule{.rate = 1, .warmup = 1, .steps = 4}.at(0) == 1);
  CHECK(CosineSchedule{.rate = 1, .warmup = 1, .steps = 4}.at(1) == 1);
  const CosineSchedule constant{.rate = 0.3, .final_ratio = 1, .steps = 9};
  for (const std::int64_t step : {0, 4, 8, 9}) CHECK(constant.at(step) == 0.3);
}

TEST_CASE("a schedule refuses what is no schedule") {
  const auto rate = [](CosineSchedule schedule, std::int64_t step = 0) {
    return [=] { schedule.at(step); };
  };
  CHECK(refuses<ValueError>(rate({}, -1), "CosineSchedule", "steps", "got -1"));
  CHECK(refuses<ValueError>(rate({.rate = -1}), "the rate", "got -1"));
  CHECK(refuses<ValueError>(rate({.rate = INFINITY}), "the rate", "got inf"));
  CHECK(refuses<ValueError>(rate({.final_ratio = 1.5}), "0 to 1", "got 1.5"));
  CHECK(refuses<ValueError>(rate({.final_ratio = NAN}), "0 to 1", "got nan"));
  CHECK(refuses<ValueError>(rate({.warmup = 6, .steps = 5}), "5 steps", "got 6"));
  CHECK(refuses<ValueError>(rate({.warmup = -1, .steps = 5}), "5 steps", "got -1"));
}
