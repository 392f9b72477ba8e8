// Every function with a tail, value and slope, against an evaluation in long double: the largest
// error in units of the last place. The exact functions are written from their definitions, and no
// formula is that of the op: slopes go by cosh and erfc, tails by the tail itself.
#include <cmath>
#include <numbers>

#include "tests/engine/ops/passes.h"

using namespace tests;

namespace {

using Exact = long double;
using Limits = std::numeric_limits<Real>;

constexpr bool is_float = std::is_same_v<Real, float>;
constexpr Exact largest_real = Limits::max(), least_normal = Limits::min();

// The op of a row of the table, f and f'. Errors are counted in units of the last place of the
// exact value, or of the scale where that is larger: the terms of a sum that cancels, |f|·|u| where
// f depends on e to the rounded number u. Where a factor of the result is below the normal numbers,
// the other factors magnify its last place: results below 2¹¹ times the smallest normal number have
// a bound of their own.
struct Curve {
  const char* name;
  Exact (*y)(Exact x);
  Exact (*slope)(Exact x);
  double y_units, slope_units, tiny_units;
  Exact (*y_scale)(Exact x) = nullptr;
  Exact (*slope_scale)(Exact x) = nullptr;
};

Exact logistic(Exact x) { return 1 / (1 + std::exp(-x)); }
Exact cdf(Exact x) { return std::erfc(-x * std::sqrt(0.5L)) / 2; }
Exact density(Exact x) {
  return std::exp(-x * x / 2) * std::numbers::inv_sqrtpi_v<Exact> * std::sqrt(0.5L);
}
// gelu_tanh(x) = x·σ(u)
Exact bend(Exact x) {
  return 2 * std::sqrt(2 * std::numbers::inv_pi_v<Exact>) * (x + 0.044715L * x * x * x);
}
Exact bent_part(Exact x) {  // of the slope: x·σ'(u)·u'
  return x * std::sqrt(2 * std::numbers::inv_pi_v<Exact>) * (1 + 0.134145L * x * x) /
         (1 + std::cosh(bend(x)));
}
Exact steepness(Exact x) { return std::max(1.0L, std::abs(bend(x))); }

const std::vector<Curve> curves = {
    {"neg", [](Exact x) { return -x; }, [](Exact) { return -1.0L; }, 0, 0, 0},
    {"exp", [](Exact x) { return std::exp(x); }, [](Exact x) { return std::exp(x); }, 1.5, 1.5, 1},
    {"log", [](Exact x) { return std::log(x); }, [](Exact x) { return 1 / x; }, 1, 1, 1},
    {"sqrt", [](Exact x) { return std::sqrt(x); }, [](Exact x) { return 0.5L / std::sqrt(x); }, 1,
     2, 1},
    {"tanh", [](Exact x) { return std::tanh(x); },
     [](Exact x) { return 1 / (std::cosh(x) * std::cosh(x)); }, 2, 4.5, 3},
    {"sin", [](Exact x) { return std::sin(x); }, [](Exact x) { return std::cos(x); }, 1, 1, 1},
    {"cos", [](Exact x) { return std::cos(x); }, [](Exact x) { return -std::sin(x); }, 1, 1, 1},
    {"expm1", [](Exact x) { return std::expm1(x); }, [](Exact x) { return std::exp(x); }, 2, 1.5,
     1},
    {"log1p", [](Exact x) { return std::log1p(x); }, [](Exact x) { return 1 / (1 + x); }, 2, 1.5,
     1},
    {"softplus", [](Exact x) { return std::max(x, 0.0L) + std::log1p(std::exp(-std::abs(x))); },
     logistic, 3, 3, 2},
    {"abs", [](Exact x) { return std::abs(x); },
     [](Exact x) { return x > 0   ? 1.0L
                          : x < 0 ? -1.0L
                                  : 0.0L; }, 0, 0, 0},
    {"sigmoid", logistic, [](Exact x) { return 0.5L / (1 + std::cosh(x)); }, 3, 5, 2},
    {"relu", [](Exact x) { return x > 0 ? x : 0.0L; }, [](Exact x) { return x > 0 ? 1.0L : 0.0L; },
     0, 0, 0},
    {"gelu", [](Exact x) { return x * cdf(x); }, [](Exact x) { return cdf(x) + x * density(x); },
     4.5, 6, is_float ? 12 : 40, nullptr,
     [](Exact x) { return std::max(cdf(x), std::abs(x) * density(x)); }},
    {"gelu_tanh", [](Exact x) { return x * logistic(bend(x)); },
     [](Exact x) { return logistic(bend(x)) + bent_part(x); }, 4, 4, is_float ? 150 : 900,
     [](Exact x) { return std::abs(x) * logistic(bend(x)) * steepness(x); },
     [](Exact x) { return std::max(logistic(bend(x)), std::abs(bent_part(x))) * steepness(x); }},
    {"silu", [](Exact x) { return x * logistic(x); },
     [](Exact x) { return logistic(x) + x / (2 + 2 * std::cosh(x)); }, 4, 9, is_float ? 250 : 1500,
     nullptr, [](Exact x) { return std::max(logistic(x), std::abs(x) / (2 + 2 * std::cosh(x))); }},
};

// The largest error in units of the last place, and where.
struct Worst {
  double units = 0, at = 0;

  void count(double found, Exact exact, Exact scale, double x) {
    const bool right = std::abs(exact) > largest_real
                           ? std::abs(found) >= static_cast<double>(largest_real)
                           : static_cast<Exact>(found) == exact;
    if (right) return;
    const Exact size = std::max(std::abs(exact), scale);
    const int least = Limits::min_exponent - 1;
    const int exponent = size == 0 ? least : std::max(std::ilogb(size), least);
    const Exact last_place = std::ldexp(1.0L, exponent - Limits::digits + 1);
    const auto error =
        static_cast<double>(std::abs(static_cast<Exact>(found) - exact) / last_place);
    if (!(error <= units)) units = error, at = x;  // also where it is NaN
  }
};

void check_worst(const std::string& what, const Worst& worst, double bound) {
  INFO(what << " errs by " << worst.units << " at " << worst.at);
  CHECK(worst.units <= bound);
}

void check_curve(const Curve& curve, const Array& x) {
  Array moving = x.clone();
#if defined(FLEDGE_DUAL)
  for (Dim i = 0; i < x.size(); ++i) moving.write()[i].tangent = 1;
#endif
  const Pass found = pass(op_case(curve.name).f, {moving}, Array::ones(x.shape()));
  Worst worst_y, worst_slope, worst_tiny;  // slopes by backward() and by Dual; all of tiny results
  for (Dim i = 0; i < x.size(); ++i) {
    const double at = value_of(x[i]);
    const auto count = [&](Worst& worst, double y, Exact exact, Exact (*scale_of)(Exact)) {
      const Exact scale = scale_of == nullptr ? 0.0L : scale_of(at);
      const bool is_tiny = std::max(std::abs(exact), scale) < 2048 * least_normal;
      (is_tiny ? worst_tiny : worst).count(y, exact, scale, at);
    };
    count(worst_y, value_of(found.y[i]), curve.y(at), curve.y_scale);
    const Exact slope = curve.slope(at);
    count(worst_slope, value_of(found.dx[0][i]), slope, curve.slope_scale);
#if defined(FLEDGE_DUAL)
    count(worst_slope, found.y[i].tangent, slope, curve.slope_scale);
#endif
  }
  const std::string name = curve.name + (" of " + to_string(x.shape()));
  check_worst(name + ", value", worst_y, curve.y_units);
  check_worst(name + ", slope", worst_slope, curve.slope_units);
  check_worst(name + ", tiny results", worst_tiny, curve.tiny_units);
}

// Every power of two with eight numbers between it and the next, of both signs, and evenly spaced
// numbers where the tails are: those for which f is defined.
Array all_sizes(const Curve& curve) {
  std::vector<double> x;
  for (int e = Limits::min_exponent - Limits::digits; e < Limits::max_exponent; ++e)
    for (int part = 0; part < 8; ++part) x.push_back(std::ldexp(1 + part / 8.0 + 1 / 64.0, e));
  constexpr int even = 60'000;
  for (const double tail : {is_float ? 110.0 : 760.0, 15.0})
    for (int i = 1; i < even; ++i) x.push_back(tail * i / even);
  for (std::size_t i = 0, count = x.size(); i < count; ++i) x.push_back(-x[i]);
  std::erase_if(x, [&](double at) { return std::isnan(curve.y(at)); });
  x.push_back(0.5);  // a rest behind all vectors
  return Array({static_cast<Dim>(x.size())}, x);
}

// A function of a row x, with dy: exact values and gradients, and what their errors are measured by.
struct RowResult {
  std::vector<Exact> y, dx, y_scale, dx_scale;
};

Exact dot_of(const std::vector<Exact>& a, const std::vector<Exact>& b) {
  Exact sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
  return sum;
}

RowResult exact_row(bool is_log, const std::vector<Exact>& x, const std::vector<Exact>& dy) {
  const auto top = static_cast<std::size_t>(std::max_element(x.begin(), x.end()) - x.begin());
  // The largest element is left out of the sum, so nothing of a small rest is lost.
  Exact rest = 0, largest_dy = 0;
  for (std::size_t j = 0; j < x.size(); ++j) rest += j == top ? 0 : std::exp(x[j] - x[top]);
  for (const Exact v : dy) largest_dy = std::max(largest_dy, std::abs(v));
  RowResult r;
  std::vector<Exact> softmax;
  for (const Exact v : x) {
    const Exact log_y = v - x[top] - std::log1p(rest), scale = std::max(1.0L, x[top] - v);
    softmax.push_back(std::exp(log_y));
    r.y.push_back(is_log ? log_y : softmax.back());
    r.y_scale.push_back(is_log ? scale : softmax.back() * scale);
    r.dx_scale.push_back(is_log ? largest_dy : r.y_scale.back() * largest_dy);
  }
  const Exact total = dot_of(dy, is_log ? std::vector<Exact>(x.size(), 1) : softmax);
  for (std::size_t i = 0; i < x.size(); ++i)
    r.dx.push_back(is_log ? dy[i] - softmax[i] * total : softmax[i] * (dy[i] - total));
  return r;
}

std::vector<Exact> exact_numbers(const Array& a) {
  const std::vector<double> values = to_vector(a);
  return {values.begin(), values.end()};
}

}  // namespace

TEST_CASE("every function of one number, value and slope, over all numbers") {
  for (const Curve& curve : curves) check_curve(curve, all_sizes(curve));
}

TEST_CASE("every function of a row, value and slope, for rows of all sizes") {
  for (const std::string function : {"softmax", "log_softmax"})
    for (const Dim n : {3, 9, 31, 65, 1000}) {
      Worst worst_y, worst_dx;
      for (const double size : {1e-30, 1e-10, 0.01, 1.0, 10.0, 40.0, 1e4, 1e30}) {
        if (size > 10 && function == "softmax") continue;  // y is 0 in the tail
        for (std::uint64_t seed = 1; seed <= (n == 9 ? 200 : 5); ++seed) {
          Rng rng(seed);
          const Array x = random_normal({n}, 0, size, rng);
          const Array dy = uniform({n}, seed);
          const Pass found = pass(op_case(function).f, {x}, dy);
          const RowResult right =
              exact_row(function == "log_softmax", exact_numbers(x), exact_numbers(dy));
          const std::vector<double> y = to_vector(found.y), dx = to_vector(found.dx[0]);
          for (std::size_t i = 0; i < y.size(); ++i) {
            worst_y.count(y[i], right.y[i], right.y_scale[i], size);
            worst_dx.count(dx[i], right.dx[i], right.dx_scale[i], size);
          }
        }
      }
      const std::string name = function + " of " + std::to_string(n) + " numbers";
      // Errors of sums of n terms are like a random walk. Vectors of two lanes add in other orders.
      const double growth = n <= 9 ? 1 : 1.5 * std::sqrt(static_cast<double>(n) / 9);
      check_worst(name + ", value", worst_y, 3 * growth);
      check_worst(name + ", slope", worst_dx, 6 * growth);
    }
}
