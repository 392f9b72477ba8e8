#include "engine/kernels/gemm.h"

#include <cmath>
#include <vector>

#include "tests/support/arrays.h"
#include "tests/support/catch.h"
#include "tests/support/sanitized.h"

using namespace tests;
using kernels::Matrix;

namespace {

Matrix as_matrix(const Array& x) { return {x.data(), x.dim(1), 1}; }

// C of A and B, in rows of m + gap numbers; what lies in the gaps must stay there.
Array multiplied(const Matrix& a, const Matrix& b, Dim n, Dim k, Dim m, Dim gap = 0) {
  // gemm overwrites: what was there before, even a NaN, must not be read.
  Array wide = Array::full({n, m + gap}, std::numeric_limits<Real>::quiet_NaN()), c({n, m});
  for (Dim i = 0; i < n; ++i) std::fill_n(wide.write() + i * (m + gap) + m, gap, Real(99));
  kernels::gemm(a, b, wide.write(), m + gap, n, k, m);
  for (Dim i = 0; i < n; ++i) {
    std::copy_n(wide.data() + i * (m + gap), m, c.write() + i * m);
    for (Dim j = m; j < m + gap; ++j) REQUIRE(wide[i * (m + gap) + j] == Real(99));
  }
  return c;
}
Array multiplied(const Array& a, const Array& b) {
  return multiplied(as_matrix(a), as_matrix(b), a.dim(0), a.dim(1), b.dim(1));
}

// The transpose, as it lies in memory.
Array turned(const Array& x) {
  Array y({x.dim(1), x.dim(0)});
  Real* to = y.write();
  for (Dim i = 0; i < x.size(); ++i) to[i % x.dim(1) * x.dim(0) + i / x.dim(1)] = x[i];
  return y;
}

// Every second number of every row, three rows apart: a matrix inside a larger one.
struct Spread {
  Array memory;
  Dim columns;
  explicit Spread(const Array& x)
      : memory(Array::full({3 * x.dim(0), 2 * x.dim(1)}, std::numeric_limits<Real>::quiet_NaN())),
        columns(x.dim(1)) {
    Real* to = memory.write();
    for (Dim i = 0; i < x.size(); ++i) to[i / columns * 6 * columns + i % columns * 2] = x[i];
  }
  Matrix matrix() const { return {memory.data(), 6 * columns, 2}; }
};

// The largest |C − Ĉ| / (u·|A||B|), exactly 0 where both are equal; `start` is what was there
// before.
double test_ratio(const Array& a, const Array& b, const Array& c, const Array& start = {}) {
  const Dim n = a.dim(0), k = a.dim(1), m = b.dim(1);
  double worst = 0;
  std::vector<long double> exact(static_cast<std::size_t>(m)), size(exact);
  for (Dim i = 0; i < n; ++i) {
    for (Dim j = 0; j < m; ++j) {
      const auto at = static_cast<std::size_t>(j);
      exact[at] = start.exists() ? static_cast<long double>(value_of(start[i * m + j])) : 0.0L;
      size[at] = std::abs(exact[at]);
    }
    for (Dim p = 0; p < k; ++p)
      for (Dim j = 0; j < m; ++j) {
        const auto at = static_cast<std::size_t>(j);
        const long double term = static_cast<long double>(value_of(a[i * k + p])) *
                                 static_cast<long double>(value_of(b[p * m + j]));
        exact[at] += term;
        size[at] += std::abs(term);
      }
    for (Dim j = 0; j < m; ++j) {
      const auto at = static_cast<std::size_t>(j);
      const auto error = static_cast<double>(
          std::abs(static_cast<long double>(value_of(c[i * m + j])) - exact[at]));
      if (error == 0) continue;
      const double ratio = error / (unit * static_cast<double>(size[at]));
      worst = ratio > worst || std::isnan(ratio) ? ratio : worst;
    }
  }
  return worst;
}

const std::vector<Dim> gemm_sizes =
    testing::sanitized ? std::vector<Dim>{0, 1, 7, 17, 65}
                       : std::vector<Dim>{0, 1, 2, 3, 7, 8, 9, 15, 16, 17, 31, 33, 64, 65};

// Around the blocks of k (256), of rows (96 or 224) and of columns (2048, 4096 or 8192 floats), and
// with so many columns that rows of A are packed, several tiles of them to a task.
// Under a sanitizer, the smallest sizes that cross each of these borders.
const std::vector<std::array<Dim, 3>> all_larger_sizes = {
    {129, 129, 129}, {3, 2000, 5},    {257, 3, 130},  {130, 1, 257},  {7, 255, 40},
    {7, 256, 40},    {7, 257, 40},    {95, 90, 95},   {96, 90, 97},   {97, 90, 96},
    {225, 70, 33},   {16, 20, 2047},  {16, 20, 2049}, {16, 20, 4096}, {16, 20, 4097},
    {30, 17, 8200},  {200, 33, 1100}, {2, 300, 1030}, {13, 513, 530}, {1, 513, 1100},
    {13, 70, 1030},  {100, 600, 1}};
const std::vector<std::array<Dim, 3>> larger_sizes =
    testing::sanitized
        ? std::vector<std::array<Dim, 3>>{{257, 3, 130}, {7, 257, 40},   {97, 30, 97},
                                          {225, 5, 33},  {16, 3, 2049},  {16, 3, 4097},
                                          {16, 3, 8200}, {200, 3, 1100}, {2, 300, 1030},
                                          {13, 513, 70}, {1, 513, 1100}, {100, 600, 1}}
        : all_larger_sizes;

}  // namespace

TEST_CASE("gemm of all sizes errs by a few roundings") {
  for (const Dim n : gemm_sizes)
    for (const Dim k : gemm_sizes) {
      const Array a = uniform({n, k}, 1);
      for (const Dim m : gemm_sizes) {
        const Array b = uniform({k, m}, 2);
        const double ratio = test_ratio(a, b, multiplied(a, b));
        INFO(n << " x " << k << " x " << m);
        REQUIRE(ratio <= 16);
      }
    }
}

TEST_CASE("gemm across every block errs by a few roundings") {
  for (const auto& [n, k, m] : larger_sizes) {
    const Array a = uniform({n, k}, 1), b = uniform({k, m}, 2);
    INFO(n << " x " << k << " x " << m);
    CHECK(test_ratio(a, b, multiplied(a, b)) <= 16);
  }
}

TEST_CASE("gemm reads its factors however they lie, for the same bits") {
  std::vector<std::array<Dim, 3>> all = larger_sizes;
  for (const Dim n : {1, 2, 5, 6, 7, 13})
    for (const Dim k : {0, 1, 3, 17})
      for (const Dim m : {1, 4, 15, 16, 17, 33}) all.push_back({n, k, m});
  for (const auto& [n, k, m] : all) {
    const Array a = uniform({n, k}, 1), b = uniform({k, m}, 2);
    const Array a_turned = turned(a), b_turned = turned(b), expected = multiplied(a, b);
    const Spread a_spread(a), b_spread(b);
    INFO(n << " x " << k << " x " << m);
    for (const Matrix& left : {as_matrix(a), as_matrix(a_turned).transposed(), a_spread.matrix()})
      for (const Matrix& right :
           {as_matrix(b), as_matrix(b_turned).transposed(), b_spread.matrix()})
        REQUIRE(same_bits(multiplied(left, right, n, k, m), expected));
    REQUIRE(same_bits(multiplied(as_matrix(a), as_matrix(b), n, k, m, 5), expected));
  }
}

TEST_CASE("gemm adds to what was there") {
  for (const auto& [n, k, m] : larger_sizes) {
    const Array a = uniform({n, k}, 1), b = uniform({k, m}, 2), start = uniform({n, m}, 3);
    Array c = start.clone();
    kernels::gemm(as_matrix(a), as_matrix(b), c.write(), m, n, k, m, {c.data(), m});
    INFO(n << " x " << k << " x " << m);
    CHECK(test_ratio(a, b, c, start) <= 16);
    Array from_zero = Array::zeros({n, m});
    kernels::gemm(as_matrix(a), as_matrix(b), from_zero.write(), m, n, k, m, {from_zero.data(), m});
    CHECK(same_bits(from_zero, multiplied(a, b)));
  }
}

TEST_CASE("gemm of whole numbers is exact") {
  for (const auto& [n, k, m] : larger_sizes) {
    if (testing::sanitized) break;
    const Array a = integers({n, k}, 1), b = integers({k, m}, 2);
    CHECK(test_ratio(a, b, multiplied(a, b)) == 0);
  }
  CHECK(same_bits(multiplied(Array({2, 2}, {1, 2, 3, 4}), Array({2, 2}, {5, 6, 7, 8})),
                  Array({2, 2}, {19, 22, 43, 50})));
}

TEST_CASE("gemm adds more ones than the largest whole number that float can increase by one") {
  const Dim k = (Dim{1} << 24) + (Dim{1} << 16);
  const Real ones[] = {Real(1), Real(1), Real(1)};
  Real c[6];  // every number of A and B is the same one, which is 0 numbers further on
  kernels::gemm({ones, 0, 0}, {ones, 0, 1}, c, 3, 2, k, 3);
  for (const Real x : c) CHECK(value_of(x) == static_cast<double>(k));
  // Numbers that a sum in one chain rounds, from 1 on: C = 1 + Σ_p 0.1
  Real sum = Real(1);
  const Real tenth = Real(0.1);
  kernels::gemm({&tenth, 0, 0}, {ones, 0, 0}, &sum, 1, 1, k, 1, {&sum, 1});
  const double expected = 1 + static_cast<double>(k) * value_of(tenth);
  const double bound = (16384 + static_cast<double>(k) / 16384) * unit * expected;
  CHECK(std::abs(value_of(sum) - expected) <= bound);
}

TEST_CASE("gemm over nothing is zeros, and adds nothing") {
  for (const Dim n : {0, 1, 3, 40})
    for (const Dim m : {0, 1, 4, 40}) {
      const Array a = Array::zeros({n, 0}), b = Array::zeros({0, m});
      CHECK(same_bits(multiplied(a, b), Array::zeros({n, m})));
      const Array start = uniform({n, m}, 1);
      Array c = start.clone();
      kernels::gemm(as_matrix(a), as_matrix(b), c.write(), m, n, 0, m, {c.data(), m});
      CHECK(same_bits(c, start));
    }
}

TEST_CASE("a row of gemm depends on its own row alone, to the bit") {
  for (const auto& [n, k, m] : std::vector<std::array<Dim, 3>>{
           {33, 31, 1}, {33, 31, 7}, {33, 31, 16}, {33, 31, 65}, {60, 300, 70}, {100, 64, 530}}) {
    const Array a = uniform({n, k}, 1), b = uniform({k, m}, 2), all = multiplied(a, b);
    INFO(n << " x " << k << " x " << m);
    for (Dim first = 0; first < n; first += testing::sanitized ? 11 : 1)
      for (const Dim count : {Dim{1}, Dim{2}, n - first}) {
        if (first + count > n) continue;
        Array expected({count, m});
        std::copy_n(all.data() + first * m, count * m, expected.write());
        REQUIRE(same_bits(multiplied({a.data() + first * k, k, 1}, as_matrix(b), count, k, m),
                          expected));
      }
  }
}

TEST_CASE("a column of gemm does not depend on the columns around it, to the bit") {
  for (const auto& [n, k, m] :
       std::vector<std::array<Dim, 3>>{{5, 31, 33}, {60, 300, 70}, {40, 64, 530}}) {
    const Array a = uniform({n, k}, 1), b = uniform({k, m}, 2), all = multiplied(a, b);
    for (const Dim cut : {Dim{1}, Dim{3}, Dim{16}, Dim{17}, m / 2, m - 1})
      for (const auto& [first, count] : {std::pair<Dim, Dim>{0, cut}, {cut, m - cut}}) {
        const Array found = multiplied(as_matrix(a), {b.data() + first, m, 1}, n, k, count);
        INFO(n << " x " << k << ", columns " << first << " to " << first + count);
        Array expected({n, count});
        for (Dim i = 0; i < n; ++i)
          std::copy_n(all.data() + i * m + first, count, expected.write() + i * count);
        REQUIRE(same_bits(found, expected));
      }
  }
}

TEST_CASE("gemm skips no zeros: 0 times NaN is NaN") {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  CHECK(same_numbers(multiplied(Array({2, 2}, {0, 1, 1, 0}), Array({2, 2}, {nan, 1, 2, infinity})),
                     Array({2, 2}, {nan, infinity, nan, nan})));
}
