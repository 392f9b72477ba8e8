#include <algorithm>
#include <cmath>

#include "tests/engine/ops/passes.h"

using namespace tests;

namespace {

// The same draw every time it is called.
Function drop(double p, std::uint64_t seed = 7) {
  return [=](const Tensors& x) {
    Rng rng(seed);
    return dropout(x[0], p, rng);
  };
}

Dim zeros_in(const Array& x) { return std::count(x.data(), x.data() + x.size(), Real(0)); }

}  // namespace

TEST_CASE("dropout leaves out, and scales what stays") {
  for (const double p : {0.1, 0.25, 0.5, 0.9}) {
    const Array y = value(drop(p), {Array::full({1000}, 3)});
    const Real scaled = Real(3) * Real(1 / (1 - p));
    for (Dim i = 0; i < 1000; ++i) REQUIRE((y[i] == Real(0) || y[i] == scaled));
    CHECK(zeros_in(y) > 0);
    CHECK(zeros_in(y) < 1000);
  }
}

TEST_CASE("dropout leaves out as many as its probability says") {
  const Dim n = 100'000;
  for (const double p : {0.01, 0.1, 0.5, 0.9, 0.99})
    for (const std::uint64_t seed : {1u, 2u, 3u}) {
      const Array y = value(drop(p, seed), {Array::ones({n})});
      const double count = static_cast<double>(n), deviation = std::sqrt(count * p * (1 - p));
      INFO("p = " << p << ", seed " << seed);
      CHECK(std::abs(static_cast<double>(zeros_in(y)) - count * p) <= 5 * deviation);
      // The mean stays 1: its deviation is √(p / (1 − p) / n).
      CHECK(std::abs(mean(y).item() - 1) <= 5 * std::sqrt(p / (1 - p) / count) + 1e-6);
    }
}

TEST_CASE("neighbours are left out independently of each other") {
  const Dim n = 100'000;
  const Array y = value(drop(0.5, 3), {Array::ones({n})});
  for (const Dim distance : {1, 2, 64, 1000}) {
    Dim both = 0;
    for (Dim i = 0; i + distance < n; ++i)
      both += y[i] == Real(0) && y[i + distance] == Real(0) ? 1 : 0;
    const auto pairs = static_cast<double>(n - distance);
    // Overlapping pairs: the variance of the count is below 2·n/4.
    CHECK(std::abs(static_cast<double>(both) - pairs / 4) <= 5 * std::sqrt(pairs / 2));
  }
}

TEST_CASE("the gradient passes where the number passed") {
  for (const double p : {0.1, 0.5, 0.9}) {
    const Pass found = pass(drop(p), {Array::ones({5, 40})}, Array::full({5, 40}, 2));
    for (Dim i = 0; i < 200; ++i) REQUIRE(found.dx[0][i] == 2 * found.y[i]);
  }
  const Array x = uniform({5, 40}, 1), dy = uniform({5, 40}, 2);
  const Pass found = pass(drop(0.3), {x}, dy);
  const Array factor = value(drop(0.3), {Array::ones({5, 40})});
  for (Dim i = 0; i < 200; ++i) {
    REQUIRE(found.y[i] == x[i] * factor[i]);
    REQUIRE(found.dx[0][i] == dy[i] * factor[i]);
  }
}

TEST_CASE("what is left out is not felt") {
  const Array kept = value(drop(0.5), {Array::ones({64})});
  Array x = uniform({64}, 1), dy = uniform({64}, 2), clean_x = x.clone(), clean_dy = dy.clone();
  for (Dim i = 0; i < 64; ++i) {
    if (kept[i] != Real(0)) continue;
    x.write()[i] = Real(quiet_nan);
    dy.write()[i] = Real(infinity);
  }
  const Pass found = pass(drop(0.5), {x}, dy), clean = pass(drop(0.5), {clean_x}, clean_dy);
  CHECK(same_numbers(found.y, clean.y));
  CHECK(same_numbers(found.dx[0], clean.dx[0]));
  const Pass all = pass(drop(0.5), {Array::full({64}, Real(quiet_nan))}, Array::ones({64}));
  for (Dim i = 0; i < 64; ++i) CHECK(bool(isnan(all.y[i])) == (kept[i] != Real(0)));
}

TEST_CASE("a draw belongs to its seed") {
  const Array x = Array::ones({256});
  CHECK(same_bits(value(drop(0.5, 7), {x}), value(drop(0.5, 7), {x})));
  CHECK_FALSE(same_bits(value(drop(0.5, 7), {x}), value(drop(0.5, 8), {x})));
  Rng rng(7);
  const Array first = dropout(x, 0.5, rng).value(), second = dropout(x, 0.5, rng).value();
  CHECK(same_bits(first, value(drop(0.5, 7), {x})));
  CHECK_FALSE(same_bits(first, second));
  const NoGrad off;
  CHECK(same_bits(value(drop(0.5, 7), {x}), first));
}

TEST_CASE("a larger draw begins with the smaller one") {
  const Array small = value(drop(0.5), {Array::ones({100})});
  const Array large = value(drop(0.5), {Array::ones({1000})});
  CHECK(same_bits(slice(large, 0, 0, 100).value(), small));
}

TEST_CASE("dropout with probability 0 is x itself, and draws nothing") {
  Rng rng(7), untouched(7);
  const Tensor x = parameter(uniform({3, 4}, 1));
  CHECK(dropout(x, 0, rng).node() == x.node());
  CHECK(rng.bits() == untouched.bits());
}

TEST_CASE("dropout obeys the rules of every op") {
  for (const double p : {0.3, 0.9}) {
    check_rules(drop(p), {uniform({5, 7}, 1)});
    check_rules(drop(p), {uniform({2, 0}, 1)});
    check_rules(drop(p), {Array::full({9}, Real(infinity))});
  }
  CHECK(value(drop(0.5), {Array::ones({})}).shape() == Shape{});
}

TEST_CASE("dropout refuses what is no probability, and 1") {
  const Tensor x = parameter(Array::ones({3}));
  const auto refused = [&](double p) {
    Rng rng(7), untouched(7);
    const std::string message = refusal_in_both_modes<ValueError>([&] { dropout(x, p, rng); });
    CHECK(rng.bits() == untouched.bits());
    return message;
  };
  const std::string range = "dropout: the probability must be in [0, 1): got ";
  CHECK(refused(-0.1) == range + "-0.1");
  CHECK(refused(1) == range + "1");
  CHECK(refused(1.5) == range + "1.5");
  CHECK(refused(infinity) == range + "inf");
  CHECK_THAT(refused(quiet_nan), StartsWith(range));
  Rng rng(7);
  CHECK(refusal_in_both_modes<GraphError>([&] { dropout(Tensor(), 0.5, rng); }) ==
        "value: this tensor was never given a value");
}
