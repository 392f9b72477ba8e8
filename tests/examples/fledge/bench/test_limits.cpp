// What limits a row, and that no row is faster than its limit.
#include "examples/fledge/bench/limits.h"

#include <cmath>

#include "tests/support/catch.h"

using namespace fledge::bench;

namespace {

Limits known_limits() {
  Limits limits;
  limits.gflops = 100;
  limits.gigabytes = 10;
  limits.call = 1e-6;
  return limits;
}

Bound bound_in(const Row& row, Limits limits = known_limits()) { return bound_of(row, limits); }

constexpr double uncached = 1e9;  // bytes that no cache holds

}  // namespace

TEST_CASE("limits: the largest of the three times is what limits a row") {
  const Bound product = bound_in({.seconds = 1, .flops = 50e9, .calls = 1});
  CHECK(product.limit == "multiply-adds");
  CHECK_THAT(product.share, WithinRel(0.5, 1e-12));
  const Bound rows = bound_in({.seconds = 1, .bytes = 4e9, .calls = 1, .array_bytes = uncached});
  CHECK(rows.limit == "memory");
  CHECK_THAT(rows.share, WithinRel(0.4, 1e-12));
  const Bound small = bound_in({.seconds = 1e-4, .flops = 1e6, .calls = 30});
  CHECK(small.limit == "call overhead");
  CHECK_THAT(small.share, WithinRel(0.3, 1e-12));
  CHECK(bound_in({.seconds = 1e-7}).limit.empty());
}

TEST_CASE("limits: a row that exceeds a limit becomes the limit, and its share is 100 %") {
  Limits limits = known_limits();
  const Row fast{.seconds = 1, .flops = 120e9};
  const Bound bound = bound_of(fast, limits);
  CHECK(bound.is_the_limit);
  CHECK(bound.share == 1);
  CHECK_THAT(limits.gflops, WithinRel(120, 1e-12));
  CHECK(share_of_peak(fast, known_limits()) == 1);
  CHECK_FALSE(bound_of({.seconds = 1, .flops = 60e9}, limits).is_the_limit);
  CHECK(limits.gflops > 100);
  const Row fast_rows{.seconds = 1, .bytes = 20e9, .array_bytes = uncached};
  CHECK(bound_of(fast_rows, limits).is_the_limit);
  CHECK_THAT(limits.gigabytes, WithinRel(20, 1e-12));
  CHECK(bound_in({.seconds = 1e-6, .flops = 1e3, .calls = 5}).share == 1);
}

TEST_CASE("limits: small arrays that are faster than memory were in caches") {
  Limits limits = known_limits();
  const Bound bound = bound_of({.seconds = 1, .bytes = 20e9, .array_bytes = 1e6}, limits);
  CHECK(bound.limit == "caches");
  CHECK_FALSE(bound.is_the_limit);
  CHECK(limits.gigabytes == 10);
}

TEST_CASE("limits: a row with a rate of reading is compared with that, and does not raise it") {
  Limits limits = known_limits();
  Row row{.seconds = 1, .bytes = 15e9, .array_bytes = uncached, .best_seconds = 0.5};
  row.reading = {.median = 20, .best = 40};
  const Bound bound = bound_of(row, limits);
  CHECK(peak_of(row) == "reading");
  CHECK(bound.limit == "reading");
  CHECK_THAT(bound.share, WithinRel(0.75, 1e-12));
  CHECK_THAT(share_of_peak(row, limits), WithinRel(0.75, 1e-12));
  CHECK_THAT(best_share(row), WithinRel(0.75, 1e-12));
  row.reading = {.median = 10, .best = 20};
  CHECK(bound_of(row, limits).is_the_limit);
  CHECK(bound_of(row, limits).share == 1);
  CHECK(share_of_peak(row, limits) == 1);
  CHECK(best_share(row) == 1);
  row.array_bytes = 1e8;
  CHECK(bound_of(row, limits).limit == "caches");
  row.reading = {.median = std::nan(""), .best = std::nan("")};
  CHECK(std::isnan(bound_of(row, limits).share));
  CHECK(limits.gigabytes == 10);
}

TEST_CASE("limits: the rate of reading is that of the sums that were taken") {
  ReadRate rate(0);
  CHECK(std::isnan(rate.rates().best));
  rate.measure(0);
  const ReadRates once = rate.rates();
  CHECK(once.best > 0);
  CHECK(once.median == once.best);
  rate.measure(0);
  CHECK(rate.rates().best >= once.best);
  CHECK(rate.rates().median <= rate.rates().best);
}

TEST_CASE("limits: a limit that was not measured has no share") {
  Limits limits = known_limits();
  limits.gigabytes = std::nan("");
  const Row row{.seconds = 1, .bytes = 20e9, .array_bytes = uncached};
  CHECK(std::isnan(bound_of(row, limits).share));
  CHECK(std::isnan(share_of_peak(row, limits)));
}

TEST_CASE("limits: measuring again never lowers a rate") {
  Limits limits;
  limits.measure_gflops();
  const double once = limits.gflops;
  CHECK(once > 0);
  limits.measure_gflops();
  CHECK(limits.gflops >= once);
  limits.measure_call();
  CHECK(limits.call > 0);
}

TEST_CASE("overhead: both times are positive, and of one op") {
  const std::vector<Row> rows = overhead();
  REQUIRE(rows.size() == 2);
  for (const Row& row : rows) {
    CHECK(row.seconds > 0);
    CHECK(row.seconds < 1e-3);
  }
}
