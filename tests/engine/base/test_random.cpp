#include "engine/base/random.h"

#include <algorithm>
#include <numbers>
#include <numeric>
#include <set>

#include "tests/support/catch.h"
#include "tests/support/refuses.h"

using namespace fledge;
using namespace tests;

namespace {

using DrawnBits = std::vector<std::uint64_t>;
constexpr std::uint64_t last_seed = ~std::uint64_t{0};

DrawnBits first_bits(Rng rng, int count) {
  DrawnBits bits;
  for (int i = 0; i < count; ++i) bits.push_back(rng.bits());
  return bits;
}

template <class Draw>
std::vector<double> draws(int count, Draw draw) {
  std::vector<double> x(static_cast<std::size_t>(count));
  std::generate(x.begin(), x.end(), draw);
  return x;
}

double mean_power(const std::vector<double>& x, int power) {
  double total = 0;
  for (const double v : x) total += std::pow(v, power);
  return total / static_cast<double>(x.size());
}

}  // namespace

TEST_CASE(
    "the cosine of fledge is exact at multiples of a half, and near the library's elsewhere") {
  for (int n = 0; n < 9; ++n) CHECK(cos_pi(0.5 * n) == (n % 2 == 1 ? 0 : n % 4 == 0 ? 1 : -1));
  double worst = 0, before = 2;
  bool falls = true;
  for (int i = 0; i <= 100'000; ++i) {
    const double x = i / 50'000.0, y = cos_pi(x);
    worst = std::max(
        worst, std::abs(y - static_cast<double>(std::cos(std::numbers::pi_v<long double> * x))));
    if (x <= 1) falls = falls && y < before;
    before = y;
  }
  CHECK(worst < 3e-16);
  CHECK(falls);
}

// Expected numbers: SplitMix64 written again from the paper, in another language.
TEST_CASE("the first bits of a seed are the same everywhere") {
  CHECK(first_bits(Rng(0), 4) ==
        DrawnBits{0xa706dd2f4d197e6f, 0xb382a305f4414f5e, 0x631a9154fbabf717, 0xa80aba8c86640906});
  CHECK(first_bits(Rng(1), 3) ==
        DrawnBits{0x5e41ab087439611e, 0xf18d6ce93d6cf1ee, 0x0b95f66d327e8d78});
  CHECK(first_bits(Rng(last_seed), 3) ==
        DrawnBits{0x5dc20aa7b2a27137, 0xbda5668a01d7049c, 0x82b43276abb80226});
}

TEST_CASE("uniform, below, shuffle and normal give the same numbers everywhere") {
  Rng u(0), b(0), s(7), n(0);
  CHECK(draws(3, [&] { return u.uniform(); }) ==
        std::vector<double>{0.6524484863740322, 0.7012121095215252, 0.3871241409757855});
  CHECK(draws(8, [&] { return static_cast<double>(b.below(10)); }) ==
        std::vector<double>{5, 4, 1, 8, 3, 3, 0, 8});
  std::vector<int> items(10);
  std::iota(items.begin(), items.end(), 0);
  s.shuffle(items);
  CHECK(items == std::vector<int>{7, 6, 9, 2, 8, 4, 0, 3, 5, 1});
  // Another libm may round log and cos differently in the last place.
  CHECK_THAT(n.normal(), WithinAbs(-0.4387214756878968, 1e-14));
  CHECK_THAT(n.normal(), WithinAbs(-0.5489113474545084, 1e-14));
}

TEST_CASE("streams of all seeds and purposes are different, also with both exchanged") {
  std::set<std::uint64_t> seen;
  std::size_t count = 0;
  const auto add = [&](const Rng& rng) {
    for (const std::uint64_t bits : first_bits(rng, 20)) seen.insert(bits), ++count;
  };
  std::vector<std::uint64_t> seeds{1ull << 32, 1ull << 63, last_seed - 1, last_seed};
  for (std::uint64_t seed = 0; seed < 20; ++seed) seeds.push_back(seed);
  for (const std::uint64_t seed : seeds) {
    add(Rng(seed));
    for (std::uint64_t purpose = 0; purpose < 20; ++purpose) add(Rng(seed).stream(purpose));
  }
  for (std::uint64_t a = 0; a < 4; ++a)
    for (std::uint64_t b = 0; b < 4; ++b) add(Rng(0).stream(a).stream(b));
  CHECK(seen.size() == count);
}

TEST_CASE("a copy repeats the numbers; a stream depends on no draw, and changes none") {
  Rng drawn(5), fresh(5);
  const DrawnBits before = first_bits(fresh.stream(3), 4);
  drawn.bits();
  CHECK(first_bits(drawn.stream(3), 4) == before);
  drawn.stream(4).bits();
  fresh.bits();
  const Rng copy = drawn;
  CHECK(first_bits(copy, 5) == first_bits(fresh, 5));
  CHECK(drawn.bits() == fresh.bits());
}

TEST_CASE("uniform and normal have the moments of their distributions, within 5 standard errors") {
  constexpr int count = 100000;
  Rng rng(1);
  const std::vector<double> u = draws(count, [&] { return rng.uniform(); }),
                            n = draws(count, [&] { return rng.normal(); });
  CHECK(*std::min_element(u.begin(), u.end()) >= 0);
  CHECK(*std::max_element(u.begin(), u.end()) < 1);
  CHECK(std::all_of(n.begin(), n.end(), [](double v) { return std::isfinite(v); }));
  // E xᵏ, and the variance of xᵏ: E x²ᵏ − (E xᵏ)²
  const double error = 5 / std::sqrt(double{count});
  CHECK_THAT(mean_power(u, 1), WithinAbs(0.5, error * std::sqrt(1.0 / 12)));
  CHECK_THAT(mean_power(u, 2), WithinAbs(1.0 / 3, error * std::sqrt(4.0 / 45)));
  CHECK_THAT(mean_power(n, 1), WithinAbs(0, error));
  CHECK_THAT(mean_power(n, 2), WithinAbs(1, error * std::sqrt(2)));
  CHECK_THAT(mean_power(n, 3), WithinAbs(0, error * std::sqrt(15)));
  CHECK_THAT(mean_power(n, 4), WithinAbs(3, error * std::sqrt(96)));
}

// With n = 3·2⁶¹ a plain remainder falls below 2⁶² in 3 of 4 draws, an unbiased draw in 2 of 3.
TEST_CASE("below has no bias for a range that does not divide 2^64") {
  constexpr int count = 40000;
  const Dim n = Dim{3} << 61;
  Rng rng(5);
  int low = 0;
  for (int i = 0; i < count; ++i) low += rng.below(n) < (Dim{1} << 62) ? 1 : 0;
  CHECK_THAT(low, WithinAbs(count * 2.0 / 3, 5 * std::sqrt(count * 2.0 / 9)));
}
