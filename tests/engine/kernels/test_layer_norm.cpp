#include "engine/kernels/layer_norm.h"

#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include "engine/kernels/simd.h"
#include "tests/engine/kernels/row_lengths.h"
#include "tests/support/blocking.h"
#include "tests/support/catch.h"

using namespace tests;
using kernels::lanes;
using kernels::RowStats;

namespace {

// The gradients of rows x (rows, n), which `stats` has normalised.
struct NormGradients {
  Array dx, dgain, dbias;

  NormGradients(const Array& x, const Array& stats, const Array& gain, const Array& dy)
      : dx(x.shape()), dgain(gain.shape()), dbias(gain.shape()) {
    kernels::layer_norm_rows_vjp(x.data(), stats.data(), gain.data(), dy.data(), dx.write(),
                                 dgain.write(), dbias.write(), x.dim(0), x.dim(1));
  }
};

// Every length of a row, about 0 and about a number so large that the mean loses digits.
const auto lengths_and_middles = [] {
  std::vector<std::pair<Dim, double>> all;
  for (const Dim n : row_lengths)
    for (const double middle : {0.0, sizeof(Real) == sizeof(float) ? 1e4 : 1e5})
      all.emplace_back(n, middle);
  return all;
}();

}  // namespace

TEST_CASE("layer norm of a row against long double") {
  for (const auto& [n, middle] : lengths_and_middles) {
    const Array x = uniform({1, n}, 1, middle - 2, middle + 2), dy = uniform({1, n}, 2);
    const Array gain = uniform({n}, 3), bias = uniform({n}, 4);
    long double mean = 0, variance = 0, mean_g = 0, along = 0;
    const auto count = static_cast<long double>(n);
    const auto wide = [](Real v) { return static_cast<long double>(value_of(v)); };
    for (Dim j = 0; j < n; ++j) mean += wide(x[j]) / count;
    for (Dim j = 0; j < n; ++j) variance += (wide(x[j]) - mean) * (wide(x[j]) - mean) / count;
    const long double rstd = 1 / std::sqrt(variance + 0.25L);
    const auto g = [&](Dim j) { return wide(dy[j]) * wide(gain[j]); };
    for (Dim j = 0; j < n; ++j) mean_g += g(j) / count;
    for (Dim j = 0; j < n; ++j) along += g(j) * (wide(x[j]) - mean) * rstd / count;
    std::vector<long double> x_hat, y, dx, dgain;
    for (Dim j = 0; j < n; ++j) {
      x_hat.push_back((wide(x[j]) - mean) * rstd);
      y.push_back(x_hat.back() * wide(gain[j]) + wide(bias[j]));
      dgain.push_back(wide(dy[j]) * x_hat.back());
      dx.push_back(rstd * (g(j) - mean_g - x_hat.back() * along));
    }
    Array stats({1, RowStats::size}), found({n}), found_y({1, n});
    kernels::layer_norm_rows(x.data(), gain.data(), bias.data(), stats.write(), found_y.write(),
                             0.25, 1, n);
    const NormGradients grads(x, stats, gain, dy);
    const RowStats row_stats(stats.data());
    for (Dim j = 0; j < n; ++j) found.write()[j] = row_stats(x[j]);
    INFO("rows of " << n << " about " << middle);
    CHECK(close(found, rounded(x_hat)));
    CHECK(close(found_y.with_shape({n}), rounded(y)));
    CHECK(close(Array({1}, {value_of(row_stats.rstd)}), rounded({rstd})));
    CHECK(close(grads.dgain, rounded(dgain)));
    CHECK(same_bits(grads.dbias, dy.with_shape({n})));
    CHECK(close(grads.dx.with_shape({n}), rounded(dx)));
  }
}

TEST_CASE("layer norm of a row of equal numbers is the bias, to the bit") {
  for (Dim n = 1; n <= 4 * lanes + 1; ++n)
    for (const double number : {0.1, -1234.567, 1e10 / 3, -7.7e30}) {
      const Array x = Array::full({1, n}, Real(number)), gain = uniform({n}, 3),
                  bias = uniform({n}, 4);
      Array stats({1, RowStats::size}), y({n});
      kernels::layer_norm_rows(x.data(), gain.data(), bias.data(), stats.write(), y.write(), 1e-5,
                               1, n);
      INFO(n << " times " << number);
      REQUIRE(same_bits(y, bias));
    }
}

TEST_CASE("y may be the memory of x") {
  for (const Dim n : row_lengths) {
    const Array x = uniform({3, n}, 1), gain = uniform({n}, 3), bias = uniform({n}, 4);
    const auto normalise = [&](const Array& from, Array& y) {
      Array stats({3, RowStats::size});
      kernels::layer_norm_rows(from.data(), gain.data(), bias.data(), stats.write(), y.write(),
                               1e-5, 3, n);
    };
    Array apart(x.shape()), place = x.clone();
    normalise(x, apart);
    normalise(place, place);
    CHECK(same_bits(place, apart));
  }
}

TEST_CASE("the gradients of gain and bias add the rows, each as it was normalised") {
  for (const Dim rows : {0, 1, 2, 15, 16, 17, 127, 300})
    for (const Dim n : {1, 7, 16, 65, 300}) {
      const Array dy = integers({rows, n}, 1), x = integers({rows, n}, 2);
      Array stats = integers({rows, RowStats::size}, 3);
      for (Dim r = 0; r < rows; ++r) stats.write()[r * 3 + 2] = real(1 + r % 2 * 3);
      std::vector<double> dgain(static_cast<std::size_t>(n)), dbias(dgain);
      for (Dim i = 0; i < x.size(); ++i) {
        const Dim r = i / n;
        const auto kept = [&](Dim which) { return value_of(stats[r * 3 + which]); };
        dgain[static_cast<std::size_t>(i % n)] +=
            value_of(dy[i]) * (value_of(x[i]) - kept(0) - kept(1)) * kept(2);
        dbias[static_cast<std::size_t>(i % n)] += value_of(dy[i]);
      }
      const NormGradients grads(x, stats, Array::ones({n}), dy);
      INFO(rows << ", " << n);
      REQUIRE(same_numbers(grads.dgain, Array({n}, dgain)));
      REQUIRE(same_numbers(grads.dbias, Array({n}, dbias)));
    }
}

TEST_CASE("a gradient that is not wanted changes no bit of the others") {
  for (const Dim rows : {5, 300}) {
    const Array x = uniform({rows, 24}, 1), stats = uniform({rows, RowStats::size}, 2),
                gain = uniform({24}, 3), dy = uniform({rows, 24}, 4);
    const NormGradients all(x, stats, gain, dy);
    for (int wanted = 1; wanted < 7; ++wanted) {
      Array dx(x.shape()), dgain({24}), dbias({24});
      const auto place = [&](int bit, Array& d) {
        return (wanted & bit) != 0 ? d.write() : nullptr;
      };
      kernels::layer_norm_rows_vjp(x.data(), stats.data(), gain.data(), dy.data(), place(1, dx),
                                   place(2, dgain), place(4, dbias), rows, 24);
      INFO("wanted: " << wanted);
      CHECK(((wanted & 1) == 0 || same_bits(dx, all.dx)));
      CHECK(((wanted & 2) == 0 || same_bits(dgain, all.dgain)));
      CHECK(((wanted & 4) == 0 || same_bits(dbias, all.dbias)));
    }
  }
}

TEST_CASE("neither threads nor tasks change a bit of the gradients") {
  const Array x = uniform({301, 37}, 1), stats = uniform({301, RowStats::size}, 2),
              gain = uniform({37}, 3), dy = uniform({301, 37}, 4);
  const NormGradients expected(x, stats, gain, dy);
  for (const Dim parts : {1, 2, 16}) {
    Blocking sizes = kernels::blocking;
    sizes.serial_work = 0;
    sizes.sum_parts = parts;
    const Blocked blocked(sizes, 3);
    const NormGradients found(x, stats, gain, dy);
    CHECK(same_bits(found.dx, expected.dx));
    CHECK(same_bits(found.dgain, expected.dgain));
    CHECK(same_bits(found.dbias, expected.dbias));
  }
}

// In the lanes of a vector past the end of its row a kernel computes with 0. Of rows as large as
// these 0 becomes infinite there, and a sum over those lanes NaN.
TEST_CASE("lanes past the end of a row enter no sum of layer norm") {
  const double large = sizeof(Real) == sizeof(float) ? 2e36 : 1e306, rstd = 1 / std::sqrt(1e-5);
  for (Dim n = 1; n <= 4 * lanes + 1; ++n) {
    INFO("rows of " << n);
    const Array gain = uniform({n}, 1), bias = uniform({n}, 2), dy = uniform({2, n}, 3);
    const Array x = Array::full({2, n}, Real(large)),
                none({n}, std::vector<double>(static_cast<std::size_t>(n), 0.0));
    Array stats({2, RowStats::size}), y({2, n});
    kernels::layer_norm_rows(x.data(), gain.data(), bias.data(), stats.write(), y.write(), 1e-5, 2,
                             n);
    const NormGradients grads(x, stats, gain, dy);
    REQUIRE(same_numbers(grads.dgain, none));  // of a constant row x̂ = 0
    for (Dim r = 0; r < 2; ++r) {
      double mean = 0;
      for (Dim j = 0; j < n; ++j) mean += value_of(dy[r * n + j] * gain[j]) / value_of(real(n));
      for (Dim j = 0; j < n; ++j) {
        const double slope = rstd * (value_of(dy[r * n + j]) * value_of(gain[j]) - mean);
        REQUIRE(y[r * n + j] == bias[j]);
        REQUIRE(std::abs(value_of(grads.dx[r * n + j]) - slope) <= 1000 * rounding);
        REQUIRE(grads.dbias[j] == dy[j] + dy[n + j]);
      }
    }
  }
}
