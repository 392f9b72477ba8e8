// Dual numbers: a value and its derivative, exact to rounding.
//
// a + bε with ε² = 0, so f(a + bε) = f(a) + f'(a)·b·ε, without a step size. One forward pass of the
// engine with Real = Dual gives J·u, where u are the tangents of its inputs (Clifford 1873; Wengert
// 1964). Next: real.h, gradcheck.h.
#pragma once

#include <cmath>
#include <limits>

#include "engine/base/normal.h"

namespace fledge {

/// A number `value` and its derivative `tangent` in one chosen direction.
struct Dual {
  double value = 0;
  double tangent = 0;

  constexpr Dual() = default;
  constexpr Dual(double v, double t = 0) : value(v), tangent(t) {}

  constexpr Dual& operator+=(Dual b) { return *this = Dual(value + b.value, tangent + b.tangent); }
  constexpr Dual& operator-=(Dual b) { return *this = Dual(value - b.value, tangent - b.tangent); }
  constexpr Dual& operator*=(Dual b) {  // (ab)' = a'b + ab'
    return *this = Dual(value * b.value, tangent * b.value + value * b.tangent);
  }
  constexpr Dual& operator/=(Dual b) {  // (a/b)' = (a' - (a/b)·b') / b
    const double quotient = value / b.value;
    return *this = Dual(quotient, (tangent - quotient * b.tangent) / b.value);
  }
  constexpr Dual operator-() const { return {-value, -tangent}; }
};

constexpr Dual operator+(Dual a, Dual b) { return a += b; }
constexpr Dual operator-(Dual a, Dual b) { return a -= b; }
constexpr Dual operator*(Dual a, Dual b) { return a *= b; }
constexpr Dual operator/(Dual a, Dual b) { return a /= b; }

// Comparisons use the value alone: which branch is taken does not depend on the tangent.
constexpr bool operator==(Dual a, Dual b) { return a.value == b.value; }
constexpr bool operator!=(Dual a, Dual b) { return a.value != b.value; }
constexpr bool operator<(Dual a, Dual b) { return a.value < b.value; }
constexpr bool operator>(Dual a, Dual b) { return a.value > b.value; }
constexpr bool operator<=(Dual a, Dual b) { return a.value <= b.value; }
constexpr bool operator>=(Dual a, Dual b) { return a.value >= b.value; }

/// exp' = exp
inline Dual exp(Dual x) {
  const double y = std::exp(x.value);
  return {y, y * x.tangent};
}

/// log' = 1/x; with tangent 0 the result has tangent 0, also at x = 0, where the slope is infinite
inline Dual log(Dual x) { return {std::log(x.value), x.tangent == 0 ? 0 : x.tangent / x.value}; }

/// sqrt' = 1 / (2·sqrt); with tangent 0 the result has tangent 0, as for log
inline Dual sqrt(Dual x) {
  const double y = std::sqrt(x.value);
  return {y, x.tangent == 0 ? 0 : x.tangent / (2 * y)};
}

/// tanh' = 1 − tanh² = 4p / (1 + p)², p = e^(−2|x|): 1 − tanh² has few digits far out
inline Dual tanh(Dual x) {
  const double p = std::exp(-2 * std::abs(x.value)), w = 1 / (1 + p);
  return {std::tanh(x.value), 4 * p * w * w * x.tangent};
}

/// sin' = cos
inline Dual sin(Dual x) { return {std::sin(x.value), std::cos(x.value) * x.tangent}; }

/// cos' = −sin
inline Dual cos(Dual x) { return {std::cos(x.value), -std::sin(x.value) * x.tangent}; }

/// (eˣ − 1)' = eˣ
inline Dual expm1(Dual x) { return {std::expm1(x.value), std::exp(x.value) * x.tangent}; }

/// log(1 + x)' = 1 / (1 + x); with tangent 0 the result has tangent 0, as for log
inline Dual log1p(Dual x) {
  return {std::log1p(x.value), x.tangent == 0 ? 0 : x.tangent / (1 + x.value)};
}

/// |x|' is the sign of x, and 0 at 0
inline Dual abs(Dual x) {
  return {std::abs(x.value), x.value == 0 ? 0 : x.value < 0 ? -x.tangent : x.tangent};
}

/// φ' = −x·φ      φ = 0 far out, where x may be infinite
inline Dual normal_density(Dual x) {
  const double y = fledge::normal_density(x.value);
  return {y, y == 0 ? 0 : -x.value * y * x.tangent};
}

/// Φ' = φ
inline Dual normal_cdf(Dual x) {
  return {fledge::normal_cdf(x.value), fledge::normal_density(x.value) * x.tangent};
}

/// (xⁿ)' = n·xⁿ⁻¹·x' + xⁿ·log(x)·n'; the term of a tangent 0 is left out: it may be 0·∞.
inline Dual pow(Dual x, Dual n) {
  const double y = std::pow(x.value, n.value);
  double slope = 0;
  if (x.tangent != 0 && n.value != 0) slope += n.value * std::pow(x.value, n.value - 1) * x.tangent;
  if (n.tangent != 0 && !(x.value == 0 && n.value >= 0)) slope += y * std::log(x.value) * n.tangent;
  return {y, slope};
}

inline bool isnan(Dual x) { return std::isnan(x.value); }
inline bool isfinite(Dual x) { return std::isfinite(x.value); }

}  // namespace fledge

/// Largest, smallest and nearest numbers: those of the value.
template <>
struct std::numeric_limits<fledge::Dual> : std::numeric_limits<double> {};
