// A row beside its limit. No test asks how fast.
#include "examples/fledge/bench/limits.h"

#include <vector>

#include "examples/fledge/bench/model.h"
#include "tests/support/catch.h"

using namespace fledge::bench;

namespace {

// Seconds of the limit that `runs` of a row's runs would take.
double seconds_of(const Limit& limit) {
  Timer timer(limit.run);
  timer.warm_up();
  timer.run(0.05);
  return timer.times().best * limit.runs;
}

}  // namespace

TEST_CASE("limits: the share compares best with best and median with median, at most 100 %") {
  const Limit half{"half", [] {}, 0.5};
  const Row row = with_times({.name = "row"}, half, {{2, 8}, {1, 2}});
  CHECK(row.limit == "half");
  CHECK(row.least.best == 0.5);
  CHECK(row.least.median == 1);
  CHECK(best_share(row) == 0.25);
  CHECK(median_share(row) == 0.125);
  const Row fast = with_times({.name = "row"}, half, {{0.49, 0.99}, {1, 2}});
  CHECK(best_share(fast) == 1);
  CHECK(median_share(fast) == 1);
}

TEST_CASE("limits: twice the multiply-adds take twice as long") {
  const Limit once = multiply_adds(1e9), twice = multiply_adds(2e9);
  CHECK(once.name == "multiply-adds");
  CHECK_THAT(twice.runs, WithinRel(2 * once.runs, 1e-12));
  CHECK(seconds_of(once) > 0);
}

TEST_CASE("limits: the limit of memory moves arrays of the row's size") {
  const auto x = fledge::Array::ones({64, 64});
  const Limit limit = memory(x, x);
  CHECK(limit.name == "memory");
  CHECK(limit.runs == 1);
  CHECK(seconds_of(limit) > 0);
}

TEST_CASE("limits: reading sums every weight of a token, but of the positions one row") {
  fledge::Rng rng(1);
  const StepSizes sizes{.layers = 2, .heads = 2, .width = 8, .context = 12, .vocab = 7};
  const fledge::LanguageModel model = model_of(sizes, rng);
  const fledge::Dim all = count_parameters(model), positions = 12 * 8;
  CHECK(bytes_of_token(model) == static_cast<double>(all - positions + 8) * sizeof(float));
  CHECK(reading(model).name == "reading");
  CHECK(seconds_of(reading(model)) > 0);
}

TEST_CASE("limits: a row of memory, of multiply-adds, and of every kind of product") {
  for (const char* kind : {"NN", "NT", "TN"}) {
    const Row row = gemm(5, 3, 7, kind);
    CHECK(row.flops == 2 * 5 * 3 * 7);
    CHECK(row.limit == "multiply-adds");
    CHECK(best_share(row) > 0);
    CHECK(best_share(row) <= 1);
  }
  // Six products, forward and backward, of 2·3·5·8 operations.
  CHECK(cross_attention(1, 2, 3, 5, 4).flops == 6 * 2 * 3 * 5 * 8);
  CHECK(attention(1, 2, 6, 4).flops == 6 * 6 * 6 * 8);
  CHECK(op("gelu", 3, 5).bytes == 5 * 3 * 5 * sizeof(float));
}

TEST_CASE("overhead: both times are positive, and of one op") {
  const std::vector<Row> rows = overhead();
  REQUIRE(rows.size() == 2);
  for (const Row& row : rows) {
    CHECK(row.limit.empty());
    CHECK(row.time.best > 0);
    CHECK(row.time.best <= row.time.median);
    CHECK(row.time.median < 1e-3);
  }
}
