// builds: f64
#include "nn/optim/schedule.h"

#include "tests/support/catch.h"

using namespace fledge;

TEST_CASE("the rate climbs, stands at its height, and comes down half a cosine") {
  const CosineSchedule schedule{.rate = 2, .least = 0.1, .warmup = 10, .steps = 110};
  CHECK_THAT(schedule.at(0), WithinAbs(0.2, 1e-15));
  CHECK_THAT(schedule.at(4), WithinAbs(1.0, 1e-15));
  CHECK_THAT(schedule.at(9), WithinAbs(2.0, 1e-15));
  CHECK_THAT(schedule.at(10), WithinAbs(2.0, 1e-15));
  CHECK_THAT(schedule.at(60), WithinAbs(2 * (0.1 + 0.9 / 2), 1e-15));
  CHECK_THAT(schedule.at(110), WithinAbs(0.2, 1e-15));
  CHECK_THAT(schedule.at(1'000'000), WithinAbs(0.2, 1e-15));
  for (std::int64_t step = 10; step < 110; ++step) CHECK(schedule.at(step + 1) < schedule.at(step));
}

TEST_CASE("without warm-up the first step has the whole rate; a run of warm-up alone ends") {
  CHECK(CosineSchedule{.rate = 3, .warmup = 0, .steps = 5}.at(0) == 3);
  const CosineSchedule all{.rate = 1, .least = 0.5, .warmup = 4, .steps = 4};
  CHECK(all.at(3) == 1);
  CHECK(all.at(4) == 0.5);
}
