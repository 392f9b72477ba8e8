#include "engine/kernels/rows.h"

#include <cmath>
#include <limits>
#include <vector>

#include "engine/kernels/simd.h"
#include "tests/engine/kernels/row_lengths.h"
#include "tests/support/catch.h"

using namespace tests;

namespace {

using VisibleKeys = std::vector<unsigned char>;

// One row, naive: softmax in long double.
std::vector<long double> exact_softmax(const Array& x) {
  long double total = 0;
  for (Dim j = 0; j < x.size(); ++j) total += std::exp(static_cast<long double>(value_of(x[j])));
  std::vector<long double> y;
  for (Dim j = 0; j < x.size(); ++j)
    y.push_back(std::exp(static_cast<long double>(value_of(x[j]))) / total);
  return y;
}

Array softmax_of_rows(const Array& x) {
  Array y(x.shape());
  kernels::softmax_rows(x.data(), nullptr, y.write(), x.dim(0), x.dim(1));
  return y;
}

Array softmax_vjp_of_rows(const Array& y, const Array& dy) {
  Array dx(y.shape());
  kernels::softmax_rows_vjp(y.data(), dy.data(), nullptr, dx.write(), y.dim(0), y.dim(1));
  return dx;
}

Array row_of(const Array& x, Dim r) {
  Array row({1, x.dim(1)});
  std::copy_n(x.data() + r * x.dim(1), x.dim(1), row.write());
  return row;
}

}  // namespace

TEST_CASE("the kernels of softmax against long double") {
  for (const Dim n : row_lengths) {
    const Array x = uniform({1, n}, 1, -5, 5), dy = uniform({1, n}, 2);
    std::vector<long double> y = exact_softmax(x.with_shape({n})), dx;
    long double mean = 0;
    for (std::size_t j = 0; j < y.size(); ++j)
      mean += y[j] * static_cast<long double>(value_of(dy[static_cast<Dim>(j)]));
    for (std::size_t j = 0; j < y.size(); ++j)
      dx.push_back(y[j] * (static_cast<long double>(value_of(dy[static_cast<Dim>(j)])) - mean));
    INFO("rows of " << n);
    const Array found = softmax_of_rows(x);
    CHECK(close(found.with_shape({n}), rounded(y)));
    CHECK(close(softmax_vjp_of_rows(found, dy).with_shape({n}), rounded(dx)));
  }
}

TEST_CASE("softmax of a long row sums to 1: it is summed in parts") {
  const Dim n = Dim{1} << 22, part = 1 << 16;
  Array x = Array::full({1, n}, Real(std::log(0.1)));
  x.write()[n / 2] = Real(0);  // the largest, of weight 1
  const Array y = softmax_of_rows(x);
  long double total = 0;
  for (Dim j = 0; j < n; ++j) total += static_cast<long double>(value_of(y.data()[j]));
  // A lane adds `part` / lanes numbers, then n / part sums; exp errs by two units.
  const auto additions = static_cast<double>(part / kernels::lanes + n / part);
  CHECK(static_cast<double>(std::abs(total - 1)) <= (additions + 10) * unit);
}

TEST_CASE("the result may take the place of the numbers it is made from") {
  for (const Dim n : row_lengths) {
    const Array x = uniform({3, n}, 1);
    const VisibleKeys visible = [&] {
      VisibleKeys table;
      for (Dim i = 0; i < 3 * n; ++i) table.push_back(i % 3 == 1 ? 0 : 1);
      return table;
    }();
    Array whole = x.clone();
    kernels::softmax_rows(whole.data(), nullptr, whole.write(), 3, n);
    CHECK(same_bits(whole, softmax_of_rows(x)));
    Array place = x.clone(), apart(x.shape());
    kernels::softmax_rows(x.data(), visible.data(), apart.write(), 3, n);
    kernels::softmax_rows(place.data(), visible.data(), place.write(), 3, n);
    CHECK(same_bits(place, apart));
  }
}

TEST_CASE("a row does not depend on the rows around it, to the bit") {
  for (const Dim n : row_lengths) {
    const Array x = uniform({5, n}, 1), dy = uniform({5, n}, 2);
    for (Dim r = 0; r < 5; ++r) {
      CHECK(same_bits(row_of(softmax_of_rows(x), r), softmax_of_rows(row_of(x, r))));
      CHECK(same_bits(row_of(softmax_vjp_of_rows(x, dy), r),
                      softmax_vjp_of_rows(row_of(x, r), row_of(dy, r))));
    }
  }
}

TEST_CASE("a masked row depends on what it sees alone, wherever that stands, to the bit") {
  for (const Dim n : row_lengths)
    for (const Dim hidden_after : {0, 1, 8, 100})
      for (const bool between : {false, true}) {
        const Array x = uniform({1, n}, 1, -5, 5), dy = uniform({1, n}, 2);
        std::vector<double> wide_x, wide_dy;
        VisibleKeys visible;
        const auto hide = [&] {
          wide_x.push_back(infinity);
          wide_dy.push_back(std::numeric_limits<double>::quiet_NaN());
          visible.push_back(0);
        };
        for (Dim j = 0; j < n; ++j) {
          if (between && j % 3 == 0) hide();
          wide_x.push_back(value_of(x[j]));
          wide_dy.push_back(value_of(dy[j]));
          visible.push_back(1);
        }
        for (Dim j = 0; j < hidden_after; ++j) hide();
        const auto all = static_cast<Dim>(visible.size());
        const VisibleKeys everything(static_cast<std::size_t>(n), 1);

        Array y({1, all}), dx({1, all}), short_y({1, n}), short_dx({1, n});
        const Array long_x({1, all}, wide_x), long_dy({1, all}, wide_dy);
        kernels::softmax_rows(long_x.data(), visible.data(), y.write(), 1, all);
        kernels::softmax_rows_vjp(y.data(), long_dy.data(), visible.data(), dx.write(), 1, all);
        kernels::softmax_rows(x.data(), everything.data(), short_y.write(), 1, n);
        kernels::softmax_rows_vjp(short_y.data(), dy.data(), everything.data(), short_dx.write(), 1,
                                  n);

        std::vector<double> seen_y, seen_dx;
        for (Dim j = 0; j < all; ++j) {
          if (visible[static_cast<std::size_t>(j)] == 0) {
            REQUIRE(same_bits(Array::full({}, y[j]), Array::zeros({})));
            REQUIRE(same_bits(Array::full({}, dx[j]), Array::zeros({})));
            continue;
          }
          seen_y.push_back(value_of(y[j]));
          seen_dx.push_back(value_of(dx[j]));
        }
        INFO(n << " seen of " << all);
        REQUIRE(same_bits(Array({1, n}, seen_y), short_y));
        REQUIRE(same_bits(Array({1, n}, seen_dx), short_dx));
      }
}

// In the lanes of a vector past the end of its row a kernel computes with 0. Of rows as large as
// these 0 becomes infinite there, and a sum over those lanes NaN.
TEST_CASE("lanes past the end of a row enter no sum") {
  using kernels::lanes;
  const bool single = sizeof(Real) == sizeof(float);
  const double large = single ? 2e36 : 1e306, most = std::numeric_limits<Real>::max();
  for (Dim n = 1; n <= 4 * lanes + 1; ++n) {
    INFO("rows of " << n);
    const Array dy = uniform({1, n}, 3);
    for (const double number : {most, -most, large, -large}) {
      const Array row = Array::full({1, n}, Real(number));
      const Array p = softmax_of_rows(row), dp = softmax_vjp_of_rows(p, dy);
      double sum = 0;
      for (Dim j = 0; j < n; ++j) sum += value_of(dy[j]);
      const double share = 1 / value_of(real(n));
      for (Dim j = 0; j < n; ++j) {
        const double d = value_of(dy[j]);
        REQUIRE(std::abs(value_of(p[j]) - share) <= rounding);
        REQUIRE(std::abs(value_of(dp[j]) - share * (d - share * sum)) <= rounding);
      }
    }
  }
}
