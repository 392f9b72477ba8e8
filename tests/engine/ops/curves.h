// The functions of one number: the ops, and what they compute, written in long double from the
// definition. No formula is that of the op: slopes go by cosh and erfc, tails by the tail itself.
#pragma once

#include <cmath>
#include <numbers>
#include <vector>

#include "tests/engine/ops/passes.h"

namespace tests {

using Exact = long double;

inline constexpr bool is_float = std::is_same_v<Real, float>;

/// f and f'. Errors are counted in units of the last place of the exact value, or of the scale where
/// that is larger: the terms of a sum that cancels, |f|·|u| where f depends on e to the rounded
/// number u. Where a factor of the result is below the normal numbers, the other factors magnify its
/// last place: results below 2¹¹ times the smallest normal number have a bound of their own.
struct Curve {
  const char* name;
  Function f;
  Exact (*y)(Exact x);
  Exact (*slope)(Exact x);
  double low, high;  // where most of it happens; low > 0: only there it is defined
  double y_units, slope_units, tiny_units;
  Exact (*y_scale)(Exact x) = nullptr;
  Exact (*slope_scale)(Exact x) = nullptr;
};

namespace detail {

inline Exact sigmoid(Exact x) { return 1 / (1 + std::exp(-x)); }
inline Exact cdf(Exact x) { return std::erfc(-x * std::sqrt(0.5L)) / 2; }
inline Exact density(Exact x) {
  return std::exp(-x * x / 2) * std::numbers::inv_sqrtpi_v<Exact> * std::sqrt(0.5L);
}
// gelu_tanh(x) = x·σ(u)
inline Exact bend(Exact x) {
  return 2 * std::sqrt(2 * std::numbers::inv_pi_v<Exact>) * (x + 0.044715L * x * x * x);
}
inline Exact bent_part(Exact x) {  // of the slope: x·σ'(u)·u'
  return x * std::sqrt(2 * std::numbers::inv_pi_v<Exact>) * (1 + 0.134145L * x * x) /
         (1 + std::cosh(bend(x)));
}
inline Exact steepness(Exact x) { return std::max(1.0L, std::abs(bend(x))); }

}  // namespace detail

inline const std::vector<Curve> curves = {
    {"neg", [](const Tensors& x) { return -x[0]; }, [](Exact x) { return -x; },
     [](Exact) { return -1.0L; }, -6, 6, 0, 0, 0},
    {"exp", [](const Tensors& x) { return exp(x[0]); }, [](Exact x) { return std::exp(x); },
     [](Exact x) { return std::exp(x); }, -80, 80, 1.5, 1.5, 1},
    {"log", [](const Tensors& x) { return log(x[0]); }, [](Exact x) { return std::log(x); },
     [](Exact x) { return 1 / x; }, 0.001, 1e6, 1, 1, 1},
    {"sqrt", [](const Tensors& x) { return sqrt(x[0]); }, [](Exact x) { return std::sqrt(x); },
     [](Exact x) { return 0.5L / std::sqrt(x); }, 0.001, 1e6, 1, 2, 1},
    {"tanh", [](const Tensors& x) { return tanh(x[0]); }, [](Exact x) { return std::tanh(x); },
     [](Exact x) { return 1 / (std::cosh(x) * std::cosh(x)); }, -6, 6, 2, 4.5, 3},
    {"sigmoid", [](const Tensors& x) { return sigmoid(x[0]); }, detail::sigmoid,
     [](Exact x) { return 0.5L / (1 + std::cosh(x)); }, -80, 80, 3, 5, 2},
    {"relu", [](const Tensors& x) { return relu(x[0]); }, [](Exact x) { return x > 0 ? x : 0.0L; },
     [](Exact x) { return x > 0 ? 1.0L : 0.0L; }, -6, 6, 0, 0, 0},
    {"gelu", [](const Tensors& x) { return gelu(x[0]); },
     [](Exact x) { return x * detail::cdf(x); },
     [](Exact x) { return detail::cdf(x) + x * detail::density(x); }, -6, 6, 4.5, 6,
     is_float ? 12 : 40, nullptr,
     [](Exact x) { return std::max(detail::cdf(x), std::abs(x) * detail::density(x)); }},
    {"gelu_tanh", [](const Tensors& x) { return gelu_tanh(x[0]); },
     [](Exact x) { return x * detail::sigmoid(detail::bend(x)); },
     [](Exact x) { return detail::sigmoid(detail::bend(x)) + detail::bent_part(x); }, -6, 6, 4, 4,
     is_float ? 150 : 900,
     [](Exact x) { return std::abs(x) * detail::sigmoid(detail::bend(x)) * detail::steepness(x); },
     [](Exact x) {
       return std::max(detail::sigmoid(detail::bend(x)), std::abs(detail::bent_part(x))) *
              detail::steepness(x);
     }},
};

/// The unit of the last place of a Real as large as x.
inline Exact last_place(Exact x) {
  using limits = std::numeric_limits<Real>;
  const int least = limits::min_exponent - 1;
  const int exponent = x == 0 ? least : std::max(std::ilogb(x), least);
  return std::ldexp(1.0L, exponent - limits::digits + 1);
}

/// The largest error in units of the last place, and where.
struct Worst {
  double units = 0, at = 0;

  void count(double found, Exact exact, Exact scale, double x) {
    constexpr auto most = static_cast<Exact>(is_float ? double{std::numeric_limits<float>::max()}
                                                      : std::numeric_limits<double>::max());
    const bool right = std::abs(exact) > most ? std::abs(found) >= static_cast<double>(most)
                                              : static_cast<Exact>(found) == exact;
    if (right) return;
    const auto error = static_cast<double>(std::abs(static_cast<Exact>(found) - exact) /
                                           last_place(std::max(std::abs(exact), scale)));
    if (!(error <= units)) units = error, at = x;  // also where it is NaN
  }
};

struct Errors {
  Worst y, slope, tangent;  // slope: by backward(); tangent: by Dual
  Worst tiny;               // of all three, where they are tiny
};

inline Errors errors_of(const Curve& curve, const Array& x) {
  Array moving = x.clone();
#if defined(FLEDGE_DUAL)
  for (Dim i = 0; i < x.size(); ++i) moving.write()[i].tangent = 1;
#endif
  const Pass found = pass(curve.f, {moving}, Array::ones(x.shape()));
  Errors errors;
  for (Dim i = 0; i < x.size(); ++i) {
    const double at = value_of(x[i]);
    const auto scale = [at](Exact (*f)(Exact)) { return f == nullptr ? 0.0L : f(at); };
    const auto count = [&](Worst& worst, double y, Exact exact, Exact size) {
      constexpr Exact tiny = 2048.0L * (is_float ? Exact{std::numeric_limits<float>::min()}
                                                 : Exact{std::numeric_limits<double>::min()});
      const bool is_tiny = std::max(std::abs(exact), size) < tiny;
      (is_tiny ? errors.tiny : worst).count(y, exact, size, at);
    };
    count(errors.y, value_of(found.y[i]), curve.y(at), scale(curve.y_scale));
    const Exact slope = curve.slope(at), slope_scale = scale(curve.slope_scale);
    count(errors.slope, value_of(found.dx[0][i]), slope, slope_scale);
#if defined(FLEDGE_DUAL)
    count(errors.tangent, found.y[i].tangent, slope, slope_scale);
#endif
  }
  return errors;
}

}  // namespace tests
