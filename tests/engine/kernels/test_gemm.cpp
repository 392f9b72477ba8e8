#include "engine/kernels/gemm.h"

#include <cmath>
#include <vector>

#include "tests/support/arrays.h"
#include "tests/support/catch.h"

using namespace tests;

namespace {

constexpr double unit = std::numeric_limits<Real>::epsilon() / 2.0;

Array multiplied(const Array& a, const Array& b) {
  const Dim n = a.dim(0), k = a.dim(1), m = b.dim(1);
  // gemm overwrites: what was there before, even a NaN, must not be read.
  Array c = Array::full({n, m}, std::numeric_limits<Real>::quiet_NaN());
  kernels::gemm(a.data(), b.data(), c.write(), n, k, m);
  return c;
}

// The largest |C − Ĉ| / (u·K·|A||B|); 0 where both are equal.
double test_ratio(const Array& a, const Array& b, const Array& c) {
  const Dim n = a.dim(0), k = a.dim(1), m = b.dim(1);
  double worst = 0;
  for (Dim i = 0; i < n; ++i)
    for (Dim j = 0; j < m; ++j) {
      long double exact = 0, size = 0;
      for (Dim p = 0; p < k; ++p) {
        const long double term =
            static_cast<long double>(a[i * k + p]) * static_cast<long double>(b[p * m + j]);
        exact += term;
        size += std::abs(term);
      }
      const auto error =
          static_cast<double>(std::abs(static_cast<long double>(c[i * m + j]) - exact));
      if (error == 0) continue;
      const double ratio = error / (unit * static_cast<double>(k) * static_cast<double>(size));
      worst = ratio > worst || std::isnan(ratio) ? ratio : worst;
    }
  return worst;
}

const std::vector<Dim> sizes = {0, 1, 2, 3, 7, 8, 9, 15, 16, 17, 31, 33, 64, 65};

}  // namespace

TEST_CASE("gemm of all sizes, within BLAS's bound", "[ACC][OP14]") {
  for (const Dim n : sizes)
    for (const Dim k : sizes) {
      const Array a = uniform({n, k}, 1);
      for (const Dim m : sizes) {
        const Array b = uniform({k, m}, 2);
        const double ratio = test_ratio(a, b, multiplied(a, b));
        INFO(n << " x " << k << " x " << m);
        REQUIRE(ratio <= 16);
      }
    }
}

TEST_CASE("gemm of larger matrices, within BLAS's bound", "[ACC]") {
  for (const auto& [n, k, m] :
       {std::array<Dim, 3>{129, 129, 129}, {3, 2000, 5}, {257, 3, 130}, {130, 1, 257}}) {
    const Array a = uniform({n, k}, 1), b = uniform({k, m}, 2);
    INFO(n << " x " << k << " x " << m);
    CHECK(test_ratio(a, b, multiplied(a, b)) <= 16);
  }
}

TEST_CASE("gemm of whole numbers is exact") {
  const Array a = integers({17, 33}, 1), b = integers({33, 9}, 2);
  CHECK(test_ratio(a, b, multiplied(a, b)) == 0);
  CHECK(same_bits(multiplied(Array({2, 2}, {1, 2, 3, 4}), Array({2, 2}, {5, 6, 7, 8})),
                  Array({2, 2}, {19, 22, 43, 50})));
}

TEST_CASE("gemm over nothing is zeros", "[OP14]") {
  CHECK(same_bits(multiplied(Array::zeros({3, 0}), Array::zeros({0, 4})), Array::zeros({3, 4})));
}

TEST_CASE("a row of gemm depends on its own row alone, to the bit") {
  for (const Dim m : {1, 7, 16, 65}) {
    const Array a = uniform({33, 31}, 1), b = uniform({31, m}, 2);
    const Array all = multiplied(a, b);
    for (Dim first = 0; first < 33; ++first)
      for (const Dim count : {Dim{1}, Dim{2}, 33 - first}) {
        if (first + count > 33) continue;
        Array c({count, m}), expected({count, m});
        kernels::gemm(a.data() + first * 31, b.data(), c.write(), count, 31, m);
        std::copy_n(all.data() + first * m, count * m, expected.write());
        REQUIRE(same_bits(c, expected));
      }
  }
}

TEST_CASE("gemm skips no zeros: 0 times NaN is NaN", "[OP18]") {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  CHECK(same_numbers(multiplied(Array({2, 2}, {0, 1, 1, 0}), Array({2, 2}, {nan, 1, 2, infinity})),
                     Array({2, 2}, {nan, infinity, nan, nan})));
}
