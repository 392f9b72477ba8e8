// The functions of one number: the ops, and what they compute, written in long double.
#pragma once

#include <cmath>
#include <numbers>
#include <vector>

#include "tests/engine/ops/passes.h"

namespace tests {

/// f and f' on [low, high]. Errors are counted in units of rounding of max(|exact|, floor).
struct Curve {
  const char* name;
  Function f;
  long double (*y)(long double x);
  long double (*slope)(long double x);
  double low, high;
  double y_units, y_floor, slope_units, slope_floor;
};

namespace detail {

inline long double sigmoid(long double x) { return 1 / (1 + std::exp(-x)); }
inline long double cdf(long double x) { return std::erfc(-x * std::sqrt(0.5L)) / 2; }
inline long double density(long double x) {
  return std::exp(-x * x / 2) * std::numbers::inv_sqrtpi_v<long double> * std::sqrt(0.5L);
}
inline long double bend(long double x) {
  return std::tanh(std::sqrt(2 * std::numbers::inv_pi_v<long double>) *
                   (x + 0.044715L * x * x * x));
}
inline long double bend_slope(long double x) {
  const long double t = bend(x);
  return (1 - t * t) * std::sqrt(2 * std::numbers::inv_pi_v<long double>) * (1 + 0.134145L * x * x);
}

}  // namespace detail

using Exact = long double;

inline const std::vector<Curve> curves = {
    {"neg", [](const Tensors& x) { return -x[0]; }, [](Exact x) { return -x; },
     [](Exact) { return -1.0L; }, -6, 6, 0, 0, 0, 0},
    {"exp", [](const Tensors& x) { return exp(x[0]); }, [](Exact x) { return std::exp(x); },
     [](Exact x) { return std::exp(x); }, -80, 80, 2, 0, 2, 0},
    {"log", [](const Tensors& x) { return log(x[0]); }, [](Exact x) { return std::log(x); },
     [](Exact x) { return 1 / x; }, 0.001, 1e6, 2, 0, 1, 0},
    {"sqrt", [](const Tensors& x) { return sqrt(x[0]); }, [](Exact x) { return std::sqrt(x); },
     [](Exact x) { return 0.5L / std::sqrt(x); }, 0.001, 1e6, 1, 0, 3, 0},
    {"tanh", [](const Tensors& x) { return tanh(x[0]); }, [](Exact x) { return std::tanh(x); },
     [](Exact x) { return 1 - std::tanh(x) * std::tanh(x); }, -6, 6, 4, 0, 8, 1},
    {"sigmoid", [](const Tensors& x) { return sigmoid(x[0]); }, detail::sigmoid,
     [](Exact x) { return detail::sigmoid(x) * detail::sigmoid(-x); }, -80, 80, 5, 0, 8, 0},
    {"relu", [](const Tensors& x) { return relu(x[0]); }, [](Exact x) { return x > 0 ? x : 0.0L; },
     [](Exact x) { return x > 0 ? 1.0L : 0.0L; }, -6, 6, 0, 0, 0, 0},
    {"gelu", [](const Tensors& x) { return gelu(x[0]); },
     [](Exact x) { return x * detail::cdf(x); },
     [](Exact x) { return detail::cdf(x) + x * detail::density(x); }, -6, 6, 8, 1, 16, 1},
    {"gelu_tanh", [](const Tensors& x) { return gelu_tanh(x[0]); },
     [](Exact x) { return x * (1 + detail::bend(x)) / 2; },
     [](Exact x) { return (1 + detail::bend(x) + x * detail::bend_slope(x)) / 2; }, -6, 6, 8, 1, 32,
     1},
};

}  // namespace tests
