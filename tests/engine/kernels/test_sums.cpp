#include "engine/kernels/sums.h"

#include <cmath>
#include <vector>

#include "tests/support/arrays.h"
#include "tests/support/catch.h"

using namespace tests;

namespace {

const std::vector<Dim> sum_lengths = {2,   3,   7,   8,   9,   15,   16,   17,    64,    127,
                                      128, 129, 255, 256, 257, 1000, 1025, 65536, 100003};

// What pairwise summation may err by, in units of the sum of the sizes: 2·u·log₂ n.
double sum_bound(Dim n) { return 2 * unit * std::log2(static_cast<double>(n)); }

struct ExactSum {
  long double sum = 0, size = 0;
  void add(long double term) {
    sum += term;
    size += std::abs(term);
  }
  double error(Real found) const {
    return static_cast<double>(std::abs(static_cast<long double>(value_of(found)) - sum) / size);
  }
};

long double wide(Real x) { return static_cast<long double>(value_of(x)); }

// 1 and then numbers so small that 1 + one of them is 1 again: a plain sum loses all of them.
Array one_and_crumbs(const Shape& shape, Dim columns) {
  Array x = Array::full(shape, static_cast<Real>(unit));
  std::fill_n(x.write(), columns, Real(1));
  return x;
}

}  // namespace

TEST_CASE("sums of nothing, of one, of few") {
  CHECK(kernels::sum(nullptr, 0) == Real(0));
  CHECK(kernels::dot(nullptr, nullptr, 0) == Real(0));
  for (Dim n = 0; n < 300; ++n) {
    const Array x = integers({n}, 1), y = integers({n}, 2);
    ExactSum sum, dot;
    for (Dim i = 0; i < n; ++i) {
      sum.add(wide(x[i]));
      dot.add(wide(x[i]) * wide(y[i]));
    }
    REQUIRE(wide(kernels::sum(x.data(), n)) == sum.sum);
    REQUIRE(wide(kernels::dot(x.data(), y.data(), n)) == dot.sum);
  }
}

TEST_CASE("sums and dots err with the logarithm of their length") {
  for (const Dim n : sum_lengths)
    for (const std::uint64_t seed : {1u, 2u, 3u}) {
      const Array x = uniform({n}, seed, -1, 1.5), y = uniform({n}, seed + 10, -1, 1.5);
      ExactSum sum, dot;
      for (Dim i = 0; i < n; ++i) {
        sum.add(wide(x[i]));
        dot.add(wide(x[i]) * wide(y[i]));
      }
      INFO("n = " << n);
      CHECK(sum.error(kernels::sum(x.data(), n)) <= sum_bound(n));
      CHECK(dot.error(kernels::dot(x.data(), y.data(), n)) <=
            sum_bound(n) + unit);  // and the products
    }
}

TEST_CASE("sums do not lose small numbers behind a large one") {
  for (const Dim n : {256, 1000, 65536}) {
    const Array x = one_and_crumbs({n}, 1);
    ExactSum exact;
    for (Dim i = 0; i < n; ++i) exact.add(wide(x[i]));
    INFO("n = " << n);
    CHECK(exact.error(kernels::sum(x.data(), n)) <= sum_bound(n));
    CHECK(exact.error(kernels::dot(x.data(), Array::ones({n}).data(), n)) <= sum_bound(n));
  }
}

TEST_CASE("columns are summed as exactly as rows") {
  for (const Dim n : {256, 1000, 65536}) {
    const Array x = one_and_crumbs({n, 3}, 3);
    ExactSum exact;
    for (Dim i = 0; i < n; ++i) exact.add(wide(x[3 * i]));
    Array y({3});
    kernels::sum_columns(x.data(), y.write(), 1, n, 3);
    INFO("n = " << n);
    for (Dim i = 0; i < 3; ++i) CHECK(exact.error(y[i]) <= sum_bound(n));
  }
}

TEST_CASE("sum_columns adds the middle axis") {
  for (const Dim outer : {0, 1, 3})
    for (const Dim reduced : {0, 1, 2, 127, 128, 129, 300})
      for (const Dim inner : {0, 1, 2, 7, 16, 65}) {
        const Array x = integers({outer, reduced, inner}, 1);
        std::vector<double> expected(static_cast<std::size_t>(outer * inner));
        for (Dim i = 0; i < x.size(); ++i) {
          const Dim o = i / (reduced * inner), column = i % inner;
          expected[static_cast<std::size_t>(o * inner + column)] += value_of(x[i]);
        }
        Array y = Array::full({outer, inner}, Real(99));  // overwritten
        kernels::sum_columns(x.data(), y.write(), outer, reduced, inner);
        INFO(outer << ", " << reduced << ", " << inner);
        REQUIRE(same_numbers(y, Array({outer, inner}, expected)));
      }
}

TEST_CASE("columns of random numbers err with the logarithm of their length") {
  for (const Dim n : sum_lengths) {
    const Array x = uniform({n, 5}, 1, -1, 1.5);
    Array y({5});
    kernels::sum_columns(x.data(), y.write(), 1, n, 5);
    for (Dim column = 0; column < 5; ++column) {
      ExactSum exact;
      for (Dim i = 0; i < n; ++i) exact.add(wide(x[i * 5 + column]));
      INFO("n = " << n);
      CHECK(exact.error(y[column]) <= sum_bound(n));
    }
  }
}

TEST_CASE("a sum is the same bits every time, and at every address") {
  const Array x = uniform({1000}, 1);
  std::vector<Real> moved(1003);
  for (const std::size_t shift : {0u, 1u, 3u}) {
    std::copy_n(x.data(), 1000, moved.data() + shift);
    CHECK(kernels::sum(moved.data() + shift, 1000) == kernels::sum(x.data(), 1000));
    CHECK(kernels::dot(moved.data() + shift, moved.data() + shift, 1000) ==
          kernels::dot(x.data(), x.data(), 1000));
  }
}

TEST_CASE("sums pass on infinities and NaN") {
  for (const Dim n : {1, 5, 130, 1000})
    for (const Dim at : {Dim{0}, n / 2, n - 1}) {
      Array x = Array::ones({n});
      x.write()[at] = Real(infinity);
      CHECK(kernels::sum(x.data(), n) == Real(infinity));
      x.write()[at] = std::numeric_limits<Real>::quiet_NaN();
      CHECK(isnan(kernels::sum(x.data(), n)));
      CHECK(isnan(kernels::dot(x.data(), Array::zeros({n}).data(), n)));
    }
}
