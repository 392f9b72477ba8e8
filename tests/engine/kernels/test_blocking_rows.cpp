// Kernels over rows, sums and loops over numbers with small tasks: every pair of borders, over
// memory full of NaN.
#include <cmath>
#include <functional>
#include <vector>

#include "engine/array_math.h"
#include "engine/kernels/layer_norm.h"
#include "engine/kernels/pairwise_sum.h"
#include "engine/kernels/rows.h"
#include "engine/kernels/sums.h"
#include "engine/ops.h"
#include "tests/support/blocking.h"
#include "tests/support/catch.h"

using namespace tests;
using kernels::lanes;
using kernels::RowStats;

namespace {

using Row = std::vector<long double>;

long double exact(Real x) { return static_cast<long double>(value_of(x)); }

// `count` numbers with NaN on both sides.
class Guarded {
 public:
  explicit Guarded(Dim count) : numbers_(Array::full({count + 2 * guard}, nan_number)) {}
  explicit Guarded(const Array& x) : Guarded(x.size()) { std::copy_n(x.data(), x.size(), data()); }
  Real* data() { return numbers_.write() + guard; }
  bool is_whole() const {
    for (Dim i = 0; i < guard; ++i)
      if (!isnan(numbers_[i]) || !isnan(numbers_[numbers_.size() - 1 - i])) return false;
    return true;
  }

 private:
  static constexpr Dim guard = 4 * lanes;
  Array numbers_;
};

// Σ_j a_j·b_j / n
long double mean_product(const Row& a, const Row& b) {
  long double sum = 0;
  for (std::size_t j = 0; j < a.size(); ++j) sum += a[j] * b[j];
  return sum / static_cast<long double>(a.size());
}

void require_close(Real* found, const Row& expected, const char* what, Dim r) {
  for (std::size_t j = 0; j < expected.size(); ++j) {
    const long double error = std::abs(exact(found[j]) - expected[j]);
    if (error <= rounding * std::max(1.0L, std::abs(expected[j]))) continue;
    FAIL(what << " of row " << r << " of " << expected.size() << " numbers: element " << j << " is "
              << digits(found[j]) << ", expected " << static_cast<double>(expected[j]));
  }
}

// Tasks of `grain` rows of n numbers.
Blocking rows_in_tasks(Dim grain, Dim n) {
  Blocking sizes = kernels::blocking;
  sizes.serial_work = 0;
  sizes.tasks = 1;
  sizes.task_numbers = (grain - 1) * (n + 1);
  return sizes;
}

// Calls check(rows, n) for rows around a task and n around vectors, pairs and fours of them, and
// leaves of sums.
void for_sizes(const std::function<void(Dim rows, Dim n)>& check) {
  std::vector<Dim> lengths;
  for (const Dim step : {lanes, 2 * lanes, 4 * lanes, kernels::chains_length})
    for (const Dim n : around(step)) lengths.push_back(n);
  for (const Dim grain : {2, 3})
    for (const Dim n : lengths)
      for (const Dim rows : around(grain)) {
        const Blocked blocked(rows_in_tasks(grain, n), 2);
        if (n > 0) check(rows, n);
      }
  for (const Dim n : around(kernels::pairwise_leaf)) {
    const Blocked blocked(rows_in_tasks(2, n), 2);
    check(3, n);
  }
}

}  // namespace

TEST_CASE("softmax is right on both sides of every two borders") {
  for_sizes([](Dim rows, Dim n) {
    const Array numbers = integers({rows, n}, 1), cotangents = integers({rows, n}, 2);
    Guarded x(numbers), dy(cotangents), y(rows * n), dx(rows * n);
    fill_stack();
    kernels::softmax_rows(x.data(), nullptr, y.data(), rows, n);
    kernels::softmax_rows_vjp(y.data(), dy.data(), nullptr, dx.data(), rows, n);
    REQUIRE((y.is_whole() && dx.is_whole()));
    for (Dim r = 0; r < rows; ++r) {
      long double total = 0;
      Row p, d, dp;
      for (Dim j = 0; j < n; ++j) total += std::exp(exact(numbers[r * n + j]));
      for (Dim j = 0; j < n; ++j) {
        p.push_back(std::exp(exact(numbers[r * n + j])) / total);
        d.push_back(exact(cotangents[r * n + j]));
      }
      const long double mean = mean_product(p, d) * static_cast<long double>(n);
      for (std::size_t j = 0; j < p.size(); ++j) dp.push_back(p[j] * (d[j] - mean));
      require_close(y.data() + r * n, p, "softmax", r);
      require_close(dx.data() + r * n, dp, "the gradient of softmax", r);
    }
  });
}

TEST_CASE("masked softmax is that of the visible numbers on both sides of every two borders") {
  for_sizes([](Dim rows, Dim n) {
    const Array numbers = integers({rows, n}, 1), cotangents = integers({rows, n}, 2);
    Guarded x(numbers), dy(cotangents), y(rows * n), dx(rows * n);
    std::vector<unsigned char> visible(static_cast<std::size_t>(rows * n));
    for (Dim i = 0; i < rows * n; ++i) {
      visible[static_cast<std::size_t>(i)] = i % 3 != 1;
      if (i % 3 == 1) x.data()[i] = dy.data()[i] = nan_number;
    }
    fill_stack();
    kernels::softmax_rows(x.data(), visible.data(), y.data(), rows, n);
    kernels::softmax_rows_vjp(y.data(), dy.data(), visible.data(), dx.data(), rows, n);
    REQUIRE((y.is_whole() && dx.is_whole()));
    for (Dim r = 0; r < rows; ++r) {
      long double total = 0, mean = 0;
      Row p, dp;
      const auto seen = [&](Dim j) { return (r * n + j) % 3 != 1; };
      for (Dim j = 0; j < n; ++j) total += seen(j) ? std::exp(exact(numbers[r * n + j])) : 0;
      for (Dim j = 0; j < n; ++j) {
        p.push_back(seen(j) ? std::exp(exact(numbers[r * n + j])) / total : 0);
        mean += p.back() * exact(cotangents[r * n + j]);
      }
      for (Dim j = 0; j < n; ++j)
        dp.push_back(p[static_cast<std::size_t>(j)] * (exact(cotangents[r * n + j]) - mean));
      require_close(y.data() + r * n, p, "masked softmax", r);
      require_close(dx.data() + r * n, dp, "the gradient of masked softmax", r);
    }
  });
}

TEST_CASE("layer norm is right on both sides of every two borders") {
  for_sizes([](Dim rows, Dim n) {
    constexpr double eps = 0.25;
    const Array numbers = integers({rows, n}, 1), cotangents = integers({rows, n}, 2),
                gains = integers({n}, 3), biases = integers({n}, 4);
    Guarded x(numbers), dy(cotangents), gain(gains), bias(biases), y(rows * n), dx(rows * n),
        stats(rows * RowStats::size), dgain(n), dbias(n);
    fill_stack();
    kernels::layer_norm_rows(x.data(), gain.data(), bias.data(), stats.data(), y.data(), eps, rows,
                             n);
    kernels::layer_norm_rows_vjp(x.data(), stats.data(), gain.data(), dy.data(), dx.data(),
                                 dgain.data(), dbias.data(), rows, n);
    REQUIRE((y.is_whole() && dx.is_whole() && stats.is_whole()));
    REQUIRE((dgain.is_whole() && dbias.is_whole()));
    const Row ones(static_cast<std::size_t>(n), 1);
    Row sums(static_cast<std::size_t>(n), 0), bias_sums = sums;
    for (Dim r = 0; r < rows; ++r) {
      Row hat, g, out, slope;
      for (Dim j = 0; j < n; ++j) hat.push_back(exact(numbers[r * n + j]));
      const long double mean = mean_product(hat, ones);
      for (long double& v : hat) v -= mean;
      const long double rstd = 1 / std::sqrt(mean_product(hat, hat) + eps);
      for (Dim j = 0; j < n; ++j) {
        long double& v = hat[static_cast<std::size_t>(j)];
        v *= rstd;
        g.push_back(exact(cotangents[r * n + j]) * exact(gains[j]));
        out.push_back(v * exact(gains[j]) + exact(biases[j]));
        sums[static_cast<std::size_t>(j)] += exact(cotangents[r * n + j]) * v;
        bias_sums[static_cast<std::size_t>(j)] += exact(cotangents[r * n + j]);
      }
      const long double mean_g = mean_product(g, ones), along = mean_product(g, hat);
      for (std::size_t j = 0; j < g.size(); ++j)
        slope.push_back(rstd * (g[j] - mean_g - hat[j] * along));
      require_close(y.data() + r * n, out, "layer norm", r);
      require_close(dx.data() + r * n, slope, "the gradient of layer norm", r);
    }
    require_close(dgain.data(), sums, "the gradient of the gain", rows);
    require_close(dbias.data(), bias_sums, "the gradient of the bias", rows);
  });
}

TEST_CASE("sums over rows and columns are exact on both sides of every two borders") {
  for (const Dim n : around(kernels::pairwise_leaf)) {
    Guarded a(integers({n}, 1)), b(integers({n}, 2));
    double sum = 0, dot = 0, squares = 0;
    for (Dim i = 0; i < n; ++i) {
      const double v = value_of(a.data()[i]);
      sum += v;
      dot += v * value_of(b.data()[i]);
      squares += v * v;
    }
    CHECK(value_of(kernels::sum(a.data(), n)) == sum);
    CHECK(value_of(kernels::dot(a.data(), b.data(), n)) == dot);
    CHECK(kernels::sum_of_squares(a.data(), n) == squares);
  }
  for (const Dim leaf : {1, 3, 5})
    for (const Dim parts : {1, 2, 4}) {
      std::vector<Dim> heights;
      for (const Dim step : {leaf, 2 * leaf, 2 * leaf * parts})
        for (const Dim rows : around(step)) heights.push_back(rows);
      for (const Dim rows : heights)
        for (const Dim n : around(lanes)) {
          Blocking sizes = kernels::blocking;
          sizes.serial_work = 0;
          sizes.sum_rows = leaf;
          sizes.sum_parts = parts;
          const Blocked blocked(sizes);
          const Array numbers = integers({rows, n}, 1), factors = integers({rows, n}, 2);
          Guarded x(numbers), dy(factors), gain(Array::ones({n})), sums(n), dgain(n), dbias(n);
          Guarded stats(Array::zeros({rows, RowStats::size}));
          for (Dim r = 0; r < rows; ++r)
            RowStats(real(r % 3), Real(1), Real(2)).store_to(stats.data() + r * RowStats::size);
          fill_stack();
          kernels::sum_columns(x.data(), sums.data(), 1, rows, n);
          kernels::layer_norm_rows_vjp(x.data(), stats.data(), gain.data(), dy.data(), nullptr,
                                       dgain.data(), dbias.data(), rows, n);
          INFO(rows << " rows of " << n << ", " << parts << " parts, leaves of " << leaf);
          REQUIRE((sums.is_whole() && dgain.is_whole() && dbias.is_whole()));
          for (Dim j = 0; j < n; ++j) {
            double sum = 0, dot = 0, bias = 0;
            for (Dim r = 0; r < rows; ++r) {
              const double v = value_of(numbers[r * n + j]);
              sum += v;
              bias += value_of(factors[r * n + j]);
              dot += value_of(factors[r * n + j]) * (v - static_cast<double>(r % 3) - 1) * 2;
            }
            REQUIRE(value_of(sums.data()[j]) == sum);
            REQUIRE(value_of(dgain.data()[j]) == dot);
            REQUIRE(value_of(dbias.data()[j]) == bias);
          }
        }
    }
}

TEST_CASE("a loop over numbers touches each once on both sides of every two borders") {
  for (const Dim grain : {Dim{1}, Dim{3}, lanes, 2 * lanes})
    for (const Dim tasks : {1, 2, 5})
      for (const Dim n : {grain - 1, grain, grain + 1, 2 * grain + 1, 64 * tasks - 1, 64 * tasks,
                          64 * tasks + 1, 128 * tasks + 1})
        for (const Dim serial : {Dim{0}, n, n + 1}) {
          Blocking sizes = kernels::blocking;
          sizes.serial_work = serial;
          sizes.tasks = tasks;
          sizes.task_numbers = grain;
          const Blocked blocked(sizes, 2);
          const Array x = integers({n}, 1), y = integers({n}, 2);
          const Array by_numbers = map(x, [](Real v) { return v * Real(2) + Real(1); });
          const Array roots = sqrt(Tensor(x * x)).value();  // a loop over vectors
          const Array both = zip("test", x, y, [](Real a, Real b) { return a - b; });
          INFO(n << " numbers, " << grain << " to a task");
          for (Dim i = 0; i < n; ++i) {
            REQUIRE(value_of(by_numbers[i]) == 2 * value_of(x[i]) + 1);
            REQUIRE(value_of(roots[i]) == std::abs(value_of(x[i])));
            REQUIRE(value_of(both[i]) == value_of(x[i]) - value_of(y[i]));
          }
        }
}
