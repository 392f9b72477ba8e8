// Kernels that work row by row: close to the formulas in long double, and the same bits in every
// number of tasks and threads, beside every other row, on both sides of every border of blocks.
#include "engine/kernels/rows.h"

#include <cmath>
#include <vector>

#include "engine/kernels/layer_norm.h"
#include "engine/kernels/pairwise_sum.h"
#include "engine/kernels/sums.h"
#include "tests/engine/kernels/guarded.h"

using namespace tests;
using kernels::lanes;
using kernels::RowStats;

namespace {

using Wide = std::vector<long double>;

Wide wide(const Array& x) {
  Wide numbers;
  for (Dim i = 0; i < x.size(); ++i) numbers.push_back(static_cast<long double>(value_of(x[i])));
  return numbers;
}

// Σ_j a_j·b_j / n of row r
long double mean_product(const Wide& a, const Wide& b, std::size_t r, std::size_t n) {
  long double sum = 0;
  for (std::size_t i = r * n; i < (r + 1) * n; ++i) sum += a[i] * b[i];
  return sum / static_cast<long double>(n);
}

// Numbers from low to high, all the same if these are equal.
struct Interval {
  double low, high, eps = 0.25;
};
constexpr double largest_number = static_cast<double>(std::numeric_limits<kernels::Native>::max());
constexpr double far_number = sizeof(Real) == sizeof(float) ? 1e4 : 1e5,  // the mean loses digits
    huge_number = sizeof(Real) == sizeof(float) ? 2e36 : 1e306;  // times 1/√eps it is infinite

enum class Output { table, stats, sums };  // (rows, n), (rows, 3) or (n)

struct RowKernel {
  const char* name;
  std::vector<Output> outputs;
  std::vector<Interval> draws;
  // in: x and dy (rows, n), gain and bias (n); x may be the memory of the first output
  void (*run)(const Inputs& in, const Real* x, const Outputs& out, Dim rows, Dim n, double eps);
  std::vector<Wide> (*exact)(const std::vector<Wide>& in, Dim rows, Dim n, double eps);

  std::vector<Dim> sizes(Dim rows, Dim n) const {
    std::vector<Dim> all;
    for (const Output output : outputs)
      all.push_back(output == Output::table   ? rows * n
                    : output == Output::stats ? rows * RowStats::size
                                              : n);
    return all;
  }
};

void run_softmax(const Inputs& in, const Real* x, const Outputs& out, Dim rows, Dim n, double) {
  kernels::softmax_rows(x, nullptr, out[0], rows, n);
  kernels::softmax_rows_vjp(out[0], in[1], nullptr, out[1], rows, n);
}

std::vector<Wide> exact_softmax(const std::vector<Wide>& in, Dim rows, Dim n, double) {
  const auto length = static_cast<std::size_t>(n);
  Wide y, dx;
  for (std::size_t r = 0; r < static_cast<std::size_t>(rows); ++r) {
    const auto x = in[0].begin() + static_cast<std::ptrdiff_t>(r * length);
    const long double top = *std::max_element(x, x + n);
    long double total = 0;
    for (Dim j = 0; j < n; ++j) total += std::exp(x[j] - top);
    for (Dim j = 0; j < n; ++j) y.push_back(std::exp(x[j] - top) / total);
    const long double mean = mean_product(y, in[1], r, length) * static_cast<long double>(n);
    for (std::size_t i = r * length; i < y.size(); ++i) dx.push_back(y[i] * (in[1][i] - mean));
  }
  return {y, dx};
}

using kernels::Centre;

template <Centre centre>
void run_norm(const Inputs& in, const Real* x, const Outputs& out, Dim rows, Dim n, double eps) {
  kernels::layer_norm_rows(x, in[2], in[3], out[4], out[0], eps, rows, n, centre);
  kernels::layer_norm_rows_vjp(in[0], out[4], in[2], in[1], out[1], out[2], out[3], rows, n,
                               centre);
}

template <Centre centre>
std::vector<Wide> exact_norm(const std::vector<Wide>& in, Dim rows, Dim n, double eps) {
  const Wide &dy = in[1], &gain = in[2], &bias = in[3];
  const auto length = static_cast<std::size_t>(n);
  const Wide of_mean(in[0].size(), centre == Centre::mean ? 1 : 0);
  Wide hat = in[0], g = dy, y, dx, dgain(length, 0), dbias = dgain;
  for (std::size_t r = 0; r < static_cast<std::size_t>(rows); ++r) {
    const std::size_t begin = r * length, end = begin + length;
    const long double mean = mean_product(in[0], of_mean, r, length);
    for (std::size_t i = begin; i < end; ++i) hat[i] -= mean;
    const long double rstd = 1 / std::sqrt(mean_product(hat, hat, r, length) + eps);
    for (std::size_t i = begin; i < end; ++i) {
      const std::size_t j = i - begin;
      hat[i] *= rstd;
      g[i] *= gain[j];
      y.push_back(hat[i] * gain[j] + bias[j]);
      dgain[j] += dy[i] * hat[i];
      dbias[j] += dy[i];
    }
    const long double mean_g = mean_product(g, of_mean, r, length),
                      along = mean_product(g, hat, r, length);
    for (std::size_t i = begin; i < end; ++i) dx.push_back(rstd * (g[i] - mean_g - hat[i] * along));
  }
  return {y, dx, dgain, dbias};  // the statistics are right if dx is
}

const std::vector<RowKernel> row_kernels = {
    {"softmax",
     {Output::table, Output::table},
     {{-5, 5},
      {far_number, far_number + 4},
      {huge_number, huge_number},
      {largest_number, largest_number},
      {-largest_number, -largest_number}},
     run_softmax,
     exact_softmax},
    {"layer norm",
     {Output::table, Output::table, Output::sums, Output::sums, Output::stats},
     {{-2, 2},
      {far_number - 2, far_number + 2},
      {huge_number, huge_number, 1e-5},
      {0.1, 0.1, 1e-5},
      {-1234.567, -1234.567, 1e-5},
      {-7.7e30, -7.7e30, 1e-5}},
     run_norm<Centre::mean>,
     exact_norm<Centre::mean>},
    {"RMS norm",
     {Output::table, Output::table, Output::sums, Output::sums, Output::stats},
     {{-2, 2}, {far_number - 2, far_number + 2}, {0.1, 0.1, 1e-5}},
     run_norm<Centre::zero>,
     exact_norm<Centre::zero>},
    {"sum_columns",
     {Output::sums},
     {{-2, 2}},
     [](const Inputs& in, const Real*, const Outputs& out, Dim rows, Dim n, double) {
       kernels::sum_columns(in[0], out[0], 1, rows, n);
     },
     [](const std::vector<Wide>& in, Dim, Dim n, double) {
       Wide sums(static_cast<std::size_t>(n), 0);
       for (std::size_t i = 0; i < in[0].size(); ++i) sums[i % sums.size()] += in[0][i];
       return std::vector<Wide>{sums};
     }},
};

std::vector<Array> operands(const Interval& draw, Dim rows, Dim n) {
  return {uniform({rows, n}, 1, draw.low, draw.high), uniform({rows, n}, 2), uniform({n}, 3),
          uniform({n}, 4)};
}

Array part_of(const Array& x, Dim begin, Dim count) {
  Array part({count});
  std::copy_n(x.data() + begin, count, part.write());
  return part;
}

void require_close(const Array& found, const Wide& expected, double tolerance) {
  for (std::size_t i = 0; i < expected.size(); ++i) {
    const Real number = found[static_cast<Dim>(i)];
    const long double error = std::abs(static_cast<long double>(value_of(number)) - expected[i]);
    if (!(error <= tolerance * std::max(1.0L, std::abs(expected[i]))))
      FAIL("element " << i << " is " << digits(number) << ", expected "
                      << static_cast<double>(expected[i]));
  }
}

// Tasks of `grain` rows of n numbers; sums over rows in chains of `sum_rows` and in `parts`.
Blocking rows_in_tasks(Dim grain, Dim n, Dim sum_rows = 16, Dim parts = 8) {
  Blocking sizes = kernels::blocking;
  sizes.serial_work = 0;
  sizes.tasks = 1;
  sizes.task_numbers = (grain - 1) * (n + 1);
  sizes.sum_rows = sum_rows;
  sizes.sum_parts = parts;
  return sizes;
}

// Around vectors, pairs and fours of them, and chains of sums.
std::vector<Dim> row_lengths() {
  std::vector<Dim> all;
  for (const Dim step : {lanes, 2 * lanes, 3 * lanes, 4 * lanes, kernels::chains_length})
    for (const Dim n : around(step)) all.push_back(n);
  return all;
}

void check_rows(const RowKernel& kernel, Dim rows, Dim n, Dim sum_rows) {
  for (const Interval& draw : kernel.draws) {
    if (draw.low == huge_number && n > 4 * lanes + 1) continue;  // the sum of a row is infinite
    const std::vector<Array> x = operands(draw, rows, n);
    const auto run = [&](const std::vector<Array>& inputs, Dim count, bool in_place = false) {
      return run_guarded(inputs, kernel.sizes(count, n), [&](const Inputs& in, const Outputs& out) {
        if (in_place) std::copy_n(in[0], count * n, out[0]);
        kernel.run(in, in_place ? out[0] : in[0], out, count, n, draw.eps);
      });
    };
    INFO(kernel.name << " of " << rows << " rows of " << n << " from " << draw.low << " to "
                     << draw.high << ", sums of " << sum_rows << " rows");
    const std::vector<Array> expected = [&] {
      const Blocked serial(rows_in_tasks(rows + 1, n, sum_rows, 1));
      return run(x, rows);
    }();
    std::vector<Wide> in;
    for (const Array& input : x) in.push_back(wide(input));
    const std::vector<Wide> exact = kernel.exact(in, rows, n, draw.eps);
    const double tolerance = rounding * std::max(1.0, 0.5 / std::sqrt(draw.eps));  // of 1/√eps
    for (std::size_t i = 0; i < exact.size(); ++i) require_close(expected[i], exact[i], tolerance);
    for (Dim r = 0; r < rows && kernel.run == run_norm<Centre::mean> && draw.low == draw.high; ++r)
      REQUIRE(same_bits(part_of(expected[0], r * n, n), x[3]));  // of equal numbers y is the bias
    for (const auto& [grain, parts, threads] :
         {std::array<Dim, 3>{1, 2, 2}, {2, 4, 3}, {3, 8, 2}}) {
      const Blocked blocked(rows_in_tasks(grain, n, sum_rows, parts), static_cast<int>(threads));
      const bool in_place = grain == 2 && kernel.outputs[0] == Output::table;
      const std::vector<Array> found = run(x, rows, in_place);
      for (std::size_t i = 0; i < found.size(); ++i) REQUIRE(same_bits(found[i], expected[i]));
    }
    for (Dim r = 0; r < rows; ++r) {
      const std::vector<Array> alone =
          run({part_of(x[0], r * n, n), part_of(x[1], r * n, n), x[2], x[3]}, 1);
      for (std::size_t i = 0; i < alone.size(); ++i) {
        const Dim size = alone[i].size();
        if (kernel.outputs[i] != Output::sums)
          REQUIRE(same_bits(part_of(expected[i], r * size, size), alone[i]));
      }
    }
  }
}

// What pairwise summation may err by, in units of the sum of the sizes: 2·u·log₂ n, and one
// rounding of each product.
double sum_bound(Dim n) { return (2 * std::log2(static_cast<double>(n) + 1) + 1) * unit; }

void check_sums(const Array& x, const Array& y) {
  const Dim n = x.size();
  const Wide a = wide(x), b = wide(y);
  std::array<long double, 3> exact{}, size{};
  for (std::size_t i = 0; i < a.size(); ++i) {
    const std::array<long double, 3> terms{a[i], a[i] * b[i], a[i] * a[i]};
    for (std::size_t k = 0; k < 3; ++k) exact[k] += terms[k], size[k] += std::abs(terms[k]);
  }
  const auto run = [n](const Inputs& in, const Outputs& out) {
    out[0][0] = kernels::sum(in[0], n);
    out[0][1] = kernels::dot(in[0], in[1], n);
    out[0][2] = Real(kernels::sum_of_squares(in[0], n));
    kernels::sum_columns(in[2], out[1], 1, n, 3);
  };
  Array columns({n, 3});
  for (Dim i = 0; i < 3 * n; ++i) columns.write()[i] = x[i / 3];
  const std::vector<Array> found = run_guarded({x, y, columns}, {3, 3}, run);
  INFO(n << " numbers");
  for (std::size_t k = 0; k < 3; ++k) {
    const auto error = [&](Real sum) {
      return std::abs(static_cast<long double>(value_of(sum)) - exact[k]);
    };
    // The squares are doubles in sixteen chains.
    const double bound = k < 2 ? sum_bound(n) : unit + (static_cast<double>(n) / 16 + 5) * 0x1p-53;
    REQUIRE(error(found[0][static_cast<Dim>(k)]) <= bound * size[k]);
    // Sixteen rows are added one after the other.
    const double by_rows = sum_bound(n) + static_cast<double>(std::min<Dim>(n, 16)) * unit;
    for (Dim i = 0; k == 0 && i < 3; ++i) REQUIRE(error(found[1][i]) <= by_rows * size[0]);
  }
}

}  // namespace

TEST_CASE("all_finite sees one number that is not, in every place") {
  const Real largest = Real(static_cast<double>(std::numeric_limits<float>::max()));
  for (const Dim n : around(2 * kernels::lanes)) {
    std::vector<Real> x(static_cast<std::size_t>(n), -largest);
    CHECK(kernels::all_finite(x.data(), n));
    for (const Real odd : {nan_number, Real(infinity), Real(-infinity)})
      for (Real& number : x) {
        const Real before = std::exchange(number, odd);
        CHECK_FALSE(kernels::all_finite(x.data(), n));
        number = before;
      }
  }
  CHECK(kernels::all_finite(nullptr, 0));
}

TEST_CASE("kernels of rows are the formulas, row by row, in every number of tasks") {
  for (const RowKernel& kernel : row_kernels) {
    for (const Dim n : row_lengths())
      for (const Dim rows : {1, 2, 3, 5}) check_rows(kernel, rows, n, 16);
    for (const Dim sum_rows : {1, 3})
      for (const Dim rows : {0, 2, 3, 4, 6, 7, 8, 11, 12, 13, 25})
        for (const Dim n : around(lanes)) check_rows(kernel, rows, n, sum_rows);
    for (const Dim n : around(kernels::pairwise_leaf)) check_rows(kernel, 3, n, 16);
    check_rows(kernel, 300, 5, 16);
  }
}

TEST_CASE("a masked row has the bits of its visible numbers alone, and the others are not read") {
  for (const Dim n : row_lengths())
    for (const int pattern : {0, 1, 2, 3}) {
      const auto is_visible = [&](Dim r, Dim j) {
        return pattern == 0   ? true
               : pattern == 1 ? (j + r) % 3 != 1
               : pattern == 2 ? (j < n / 2) == (r == 0)
                              : r == 0;
      };
      Array x = uniform({2, n}, 1, -5, 5), dy = uniform({2, n}, 2);
      std::vector<unsigned char> visible;
      std::vector<std::vector<double>> seen_x(2), seen_dy(2);
      for (Dim i = 0; i < 2 * n; ++i) {
        visible.push_back(is_visible(i / n, i % n) ? 1 : 0);
        const auto r = static_cast<std::size_t>(i / n);
        if (visible.back() != 0) {
          seen_x[r].push_back(value_of(x[i]));
          seen_dy[r].push_back(value_of(dy[i]));
        } else {
          x.write()[i] = Real(i % 2 == 0 ? infinity : quiet_nan);
          dy.write()[i] = Real(quiet_nan);
        }
      }
      INFO("rows of " << n << ", pattern " << pattern);
      const Blocked blocked(rows_in_tasks(1, n), 2);
      for (const Guard guard : {Guard::behind, Guard::before}) {
        const Guarded<unsigned char> table(visible, guard);
        for (const bool in_place : {false, true}) {
          const std::vector<Array> found =
              run_guarded({x, dy}, {2 * n, 2 * n}, [&](const Inputs& in, const Outputs& out) {
                if (in_place) std::copy_n(in[0], 2 * n, out[0]);
                kernels::softmax_rows(in_place ? out[0] : in[0], table.data(), out[0], 2, n);
                kernels::softmax_rows_vjp(out[0], in[1], table.data(), out[1], 2, n);
              });
          for (Dim r = 0; r < 2; ++r) {
            const auto row = static_cast<std::size_t>(r);
            const auto count = static_cast<Dim>(seen_x[row].size());
            const std::vector<Array> alone =
                run_guarded({Array({count}, seen_x[row]), Array({count}, seen_dy[row])},
                            {count, count}, [&](const Inputs& in, const Outputs& out) {
                              if (count > 0) run_softmax(in, in[0], out, 1, count, 0);
                            });
            for (std::size_t output = 0; output < 2; ++output) {
              Array expected = Array::zeros({n});
              for (Dim j = 0, at = 0; j < n; ++j)
                if (is_visible(r, j)) expected.write()[j] = alone[output][at++];
              REQUIRE(same_bits(part_of(found[output], r * n, n), expected));
            }
          }
        }
      }
    }
}

TEST_CASE("softmax of a long row sums to 1: it is summed in parts") {
  const Dim n = Dim{1} << 22, part = 1 << 16;
  Array x = Array::full({n}, Real(std::log(0.1))), y({n});
  x.write()[n / 2] = Real(0);  // the largest_number, of weight 1
  kernels::softmax_rows(x.data(), nullptr, y.write(), 1, n);
  long double total = 0;
  for (Dim j = 0; j < n; ++j) total += static_cast<long double>(value_of(y.data()[j]));
  // A lane adds `part` / lanes numbers, then n / part sums; exp errs by two units.
  const auto additions = static_cast<double>(part / lanes + n / part);
  CHECK(static_cast<double>(std::abs(total - 1)) <= (additions + 10) * unit);
}

TEST_CASE("sums and dots err with the logarithm of their length") {
  std::vector<Dim> lengths{0, 1, 2, 3, 65536, 100003};
  for (Dim n = 7; n < 20000; n += n / 7) lengths.push_back(n);
  for (const Dim step : {lanes, kernels::chains_length, kernels::pairwise_leaf})
    for (const Dim n : around(step)) lengths.push_back(n);
  for (const Dim n : lengths) {
    check_sums(uniform({n}, 1, -1, 1.5), uniform({n}, 2, -1, 1.5));
    Array crumbs = Array::full({n}, Real(unit));  // a plain sum loses all of them beside 1
    if (n > 0) crumbs.write()[0] = Real(1);
    check_sums(crumbs, Array::ones({n}));
  }
}

TEST_CASE("sums pass on infinities and NaN") {
  for (const Dim n : {1, 5, 130, 1000})
    for (const Dim at : {Dim{0}, n / 2, n - 1}) {
      Array x = Array::ones({n});
      x.write()[at] = Real(infinity);
      CHECK(kernels::sum(x.data(), n) == Real(infinity));
      x.write()[at] = nan_number;
      CHECK(isnan(kernels::sum(x.data(), n)));
      CHECK(isnan(kernels::dot(x.data(), Array::zeros({n}).data(), n)));
    }
}
