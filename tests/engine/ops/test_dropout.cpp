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

TEST_CASE("dropout leaves out as many as its probability says, and scales what stays") {
  const Dim n = 100'000;
  for (const double p : {0.01, 0.1, 0.5, 0.9, 0.99})
    for (const std::uint64_t seed : {1u, 2u, 3u}) {
      const Array y = value(drop(p, seed), {Array::ones({n})});
      const double count = static_cast<double>(n), deviation = std::sqrt(count * p * (1 - p));
      INFO("p = " << p << ", seed " << seed);
      const Real scaled = Real(1 / (1 - p));
      CHECK(zeros_in(y) + std::count(y.data(), y.data() + n, scaled) == n);
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

TEST_CASE("a draw belongs to its seed, and a larger one begins with the smaller") {
  const Array x = Array::ones({256});
  CHECK(same_bits(value(drop(0.5, 7), {x}), value(drop(0.5, 7), {x})));
  CHECK_FALSE(same_bits(value(drop(0.5, 7), {x}), value(drop(0.5, 8), {x})));
  Rng rng(7);
  const Array first = dropout(x, 0.5, rng).value(), second = dropout(x, 0.5, rng).value();
  CHECK(same_bits(first, value(drop(0.5, 7), {x})));
  CHECK_FALSE(same_bits(first, second));
  CHECK(same_bits(slice(value(drop(0.5), {Array::ones({1000})}), 0, 0, 256).value(), first));
}

TEST_CASE(
    "dropout with probability 0 is x itself, and draws nothing; nor does one that is refused") {
  Rng rng(7), untouched(7);
  const Tensor x = parameter(uniform({3, 4}, 1));
  CHECK(dropout(x, 0, rng).node() == x.node());
  CHECK_THROWS_AS(dropout(x, 1, rng), ValueError);
  CHECK_THROWS_AS(dropout(Tensor(), 0, rng), GraphError);
  CHECK(rng.bits() == untouched.bits());
}
