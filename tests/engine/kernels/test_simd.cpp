#include "engine/kernels/simd.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <vector>

#include "tests/support/catch.h"
#include "tests/support/tangents.h"

using namespace tests;
using kernels::lanes;
using kernels::Vec;

namespace {

constexpr auto lane_count = static_cast<std::size_t>(lanes);
using Lanes = std::array<Real, lane_count>;

Lanes numbers_in(Vec v) {
  Lanes x;
  kernels::store(x.data(), v);
  return x;
}

// Neither value nor tangent of a lane is that of another.
Array drawn_numbers(Dim n, std::uint64_t seed = 1) {
  return with_tangents(uniform({n}, seed), uniform({n}, seed + 1));
}

bool same_number(Real a, Real b) { return std::memcmp(&a, &b, sizeof a) == 0; }

}  // namespace

TEST_CASE("load and store move one vector, at any address") {
  const Array from = drawn_numbers(3 * lanes);
  std::vector<Real> to(4 * lane_count, Real(99));
  for (Dim at = 0; at <= 2 * lanes; ++at) {
    std::fill(to.begin(), to.end(), Real(99));
    kernels::store(to.data() + at, kernels::load(from.data() + at));
    for (Dim i = 0; i < 4 * lanes; ++i) {
      const bool inside = i >= at && i < at + lanes;
      REQUIRE(same_number(to[static_cast<std::size_t>(i)], inside ? from[i] : Real(99)));
    }
  }
}

TEST_CASE("a part of a vector is filled up when it is loaded, and alone when it is stored") {
  const Array from = drawn_numbers(lanes);
  for (Dim n = 0; n <= lanes; ++n)
    for (const double fill : {0.0, 7.0, -infinity}) {
      const Lanes loaded = numbers_in(kernels::load(from.data(), n, Real(fill)));
      for (Dim i = 0; i < lanes; ++i)
        REQUIRE(same_number(loaded[static_cast<std::size_t>(i)], i < n ? from[i] : Real(fill)));
      std::vector<Real> to(lane_count, Real(99));
      kernels::store(to.data(), kernels::load(from.data()), n);
      for (Dim i = 0; i < lanes; ++i)
        REQUIRE(same_number(to[static_cast<std::size_t>(i)], i < n ? from[i] : Real(99)));
    }
}

TEST_CASE("a part of a vector is read and written to its end, not beyond") {
  // Of exactly the size asked for, so that a sanitizer sees one number too many.
  for (Dim n = 1; n <= lanes; ++n) {
    std::vector<Real> few(static_cast<std::size_t>(n), Real(3));
    const Lanes loaded = numbers_in(kernels::load(few.data(), n));
    CHECK(same_number(loaded[static_cast<std::size_t>(n - 1)], Real(3)));
    if (n < lanes) CHECK(same_number(loaded[static_cast<std::size_t>(n)], Real(0)));
    kernels::store(few.data(), kernels::splat(Real(5)), n);
    CHECK(few == std::vector<Real>(static_cast<std::size_t>(n), Real(5)));
  }
}

TEST_CASE("splat puts a number into every lane as it is, -0 too") {
  for (const double x : {0.0, -0.0, 1.5, -1e30, infinity, -infinity,
                         value_of(std::numeric_limits<Real>::min()) / 4}) {
    for (const Real lane : numbers_in(kernels::splat(Real(x)))) CHECK(same_number(lane, Real(x)));
  }
  for (const Real lane : numbers_in(kernels::splat(Real(quiet_nan)))) CHECK(isnan(lane));
}

TEST_CASE("first_lanes keeps the first lanes, whatever is in the others") {
  const Array from = drawn_numbers(lanes);
  for (Dim n = 0; n <= lanes; ++n)
    for (const double fill : {0.0, -infinity, quiet_nan}) {
      Lanes x;
      for (Dim i = 0; i < lanes; ++i)
        x[static_cast<std::size_t>(i)] = i < n ? from[i] : Real(quiet_nan);
      const Lanes y = numbers_in(kernels::first_lanes(kernels::load(x.data()), n, Real(fill)));
      for (Dim i = 0; i < lanes; ++i) {
        const Real lane = y[static_cast<std::size_t>(i)];
        REQUIRE((i < n ? same_number(lane, from[i])
                       : same_number(lane, Real(fill)) || std::isnan(fill)));
        REQUIRE((i < n || isnan(lane) == std::isnan(fill)));
      }
    }
}

TEST_CASE("fold and sum_of take every lane once, by halves") {
  // Powers of two: a lane left out or taken twice changes the sum.
  Lanes x;
  double expected = 0;
  for (std::size_t i = 0; i < lane_count; ++i) {
    x[i] = Real(static_cast<double>(1u << i));
    expected += value_of(x[i]);
  }
  CHECK(value_of(kernels::sum_of(kernels::load(x.data()))) == expected);
  std::size_t calls = 0;
  const Real folded = kernels::fold(kernels::load(x.data()), [&](kernels::Vec a, kernels::Vec b) {
    ++calls;
    return kernels::larger(a, b);
  });
  CHECK(value_of(folded) == value_of(x[lane_count - 1]));
  CHECK(std::size_t{1} << calls == lane_count);

  // (v₀ + v_half) + …: halves of 1e30 and −1e30 cancel first, so the small numbers stay.
  for (std::size_t i = 0; i < lane_count; ++i)
    x[i] =
        lane_count == 1 ? Real(1) : Real(i % (lane_count / 2) == 0 ? (i == 0 ? 1e30 : -1e30) : 1.0);
  CHECK(value_of(kernels::sum_of(kernels::load(x.data()))) ==
        (lane_count == 1 ? 1.0 : static_cast<double>(lane_count - 2)));
}

TEST_CASE("two halves of a vector are loaded from two places, and stored in two") {
  const Array from = drawn_numbers(3 * lanes);
  for (Dim at = 0; at < 2 * lanes; ++at) {
    const Vec v = kernels::load_halves(from.data(), from.data() + at);
    const Lanes loaded = numbers_in(v);
    std::vector<Real> to(4 * lane_count, Real(99));
    kernels::store_halves(v, to.data() + 3 * lanes, to.data() + at);
    for (Dim i = 0; i < lanes; ++i) {
      const Dim half = lanes / 2, source = i < half ? i : at + i - half;
      const Dim target = i < half ? 3 * lanes + i : at + i - half;
      REQUIRE(same_number(loaded[static_cast<std::size_t>(i)], from[source]));
      REQUIRE(same_number(to[static_cast<std::size_t>(target)], from[source]));
    }
    REQUIRE(std::count_if(to.begin(), to.end(), [](Real x) { return same_number(x, Real(99)); }) ==
            3 * lanes);
  }
}

TEST_CASE("arithmetic, comparison and choice are those of each lane") {
  const Array left = drawn_numbers(lanes, 1), right = drawn_numbers(lanes, 5),
              other = drawn_numbers(lanes, 9);
  const Vec a = kernels::load(left.data()), b = kernels::load(right.data());
  const Real c = other[0];
  const auto check = [&](Vec found, auto expected) {
    for (Dim i = 0; i < lanes; ++i) {
      const Real is = kernels::lane(found, static_cast<int>(i)), must = expected(left[i], right[i]);
      INFO("lane " << i << " is " << digits(is) << ", must be " << digits(must));
      CHECK(value_of(is) == value_of(must));
#if defined(FLEDGE_DUAL)  // of two products a multiply-add rounds only one
      CHECK(std::abs(is.tangent - must.tangent) <= 1e-14 * std::abs(must.tangent));
#endif
    }
  };
  check(a + b, [](Real x, Real y) { return x + y; });
  check(a - b, [](Real x, Real y) { return x - y; });
  check(a * b, [](Real x, Real y) { return x * y; });
  check(a / b, [](Real x, Real y) { return x / y; });
  check(-a, [](Real x, Real) { return -x; });
  check(a + c, [&](Real x, Real) { return x + c; });
  check(c - a, [&](Real x, Real) { return c - x; });
  check(a * c, [&](Real x, Real) { return x * c; });
  check(c / a, [&](Real x, Real) { return c / x; });
  Vec sum = a;
  sum += b;
  check(sum, [](Real x, Real y) { return x + y; });
  using kernels::select;
  check(select(a < b, a, b), [](Real x, Real y) { return x < y ? x : y; });
  check(select(a > b, a, b), [](Real x, Real y) { return x > y ? x : y; });
  check(select(a <= a, a, b), [](Real x, Real) { return x; });
  check(select(a >= b, b, a), [](Real x, Real y) { return x >= y ? y : x; });
  check(select(a == a, b, a), [](Real, Real y) { return y; });
}

TEST_CASE("add_product adds the product of each lane") {
  const Array start = with_tangents(integers({lanes}, 1), integers({lanes}, 2));
  const Array left = with_tangents(integers({lanes}, 3), integers({lanes}, 4));
  const Array right = with_tangents(integers({lanes}, 5), integers({lanes}, 6));
  Vec sum = kernels::load(start.data());
  kernels::add_product(sum, kernels::load(left.data()), kernels::load(right.data()));
  const Lanes found = numbers_in(sum);
  for (Dim i = 0; i < lanes; ++i)
    CHECK(same_number(found[static_cast<std::size_t>(i)], start[i] + left[i] * right[i]));
}

TEST_CASE("transpose: row i becomes column i, twice is nothing") {
  const Array places = drawn_numbers(lanes * lanes);
  const auto place = [&](std::size_t i, std::size_t j) {
    return places[static_cast<Dim>(i * lane_count + j)];
  };
  kernels::Vec square[lane_count];
  for (std::size_t i = 0; i < lane_count; ++i) {
    Lanes row;
    for (std::size_t j = 0; j < lane_count; ++j) row[j] = place(i, j);
    square[i] = kernels::load(row.data());
  }
  for (const bool turned : {true, false}) {
    kernels::transpose(square);
    for (std::size_t i = 0; i < lane_count; ++i) {
      const Lanes row = numbers_in(square[i]);
      for (std::size_t j = 0; j < lane_count; ++j)
        REQUIRE(same_number(row[j], turned ? place(j, i) : place(i, j)));
    }
  }
}

TEST_CASE("larger: the larger one, and the first where either is NaN") {
  const auto check = [](double a, double b, double expected) {
    const auto agrees = [&](Real found) {
      return std::isnan(expected) ? isnan(found) : value_of(found) == expected;
    };
    INFO(a << " and " << b);
    for (const Real lane :
         numbers_in(kernels::larger(kernels::splat(Real(a)), kernels::splat(Real(b)))))
      CHECK(agrees(lane));
  };
  check(1, 2, 2);
  check(2, 1, 2);
  check(-1, -2, -1);
  check(3, 3, 3);
  check(-infinity, -infinity, -infinity);
  check(-infinity, 1, 1);
  check(infinity, 1, infinity);
  for (const double x : {0.0, 5.0, infinity, -infinity, quiet_nan}) {
    check(quiet_nan, x, quiet_nan);
    check(x, quiet_nan, x);
  }
}

TEST_CASE("larger compares lane by lane") {
  Lanes a, b;
  for (std::size_t i = 0; i < lane_count; ++i) {
    a[i] = real(static_cast<Dim>(i));
    b[i] = real(static_cast<Dim>(lane_count - i));
  }
  const Lanes found = numbers_in(kernels::larger(kernels::load(a.data()), kernels::load(b.data())));
  for (std::size_t i = 0; i < lane_count; ++i)
    CHECK(value_of(found[i]) == std::max(value_of(a[i]), value_of(b[i])));
}

TEST_CASE("by_vectors covers every index once, full vectors first, then the rest") {
  for (Dim n = 0; n <= 5 * lanes + 1; ++n) {
    Dim next = 0;
    kernels::by_vectors(n, [&](Dim i, Dim count) {
      REQUIRE(i == next);
      REQUIRE(count >= 1);
      REQUIRE(count == (i + lanes <= n ? lanes : n - i));
      next = i + count;
    });
    CHECK(next == n);
  }
}
