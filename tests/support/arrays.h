// Arrays for tests: made, and compared bit for bit, number for number or to a tolerance.
//
// A comparison is written CHECK(same_bits(found, expected)); when it fails its text says where,
// with both numbers. No tolerance lets a NaN pass.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <limits>
#include <ostream>
#include <string>

#include "engine/array.h"
#include "engine/base/errors.h"

namespace tests {

using namespace fledge;

/// What rounding may do to a short computation: 1e-5 in float, 1e-12 in double and Dual.
inline constexpr double rounding = sizeof(Real) == sizeof(float) ? 1e-5 : 1e-12;

/// Half the distance from 1 to the next Real: the largest relative error of one operation.
inline constexpr double unit = std::numeric_limits<Real>::epsilon() / 2.0;
inline constexpr double quiet_nan = std::numeric_limits<double>::quiet_NaN();

/// True, or the sentence that says why not.
struct Verdict {
  std::string difference;
  explicit operator bool() const { return difference.empty(); }
  friend std::ostream& operator<<(std::ostream& out, const Verdict& verdict) {
    return out << (verdict ? "equal" : verdict.difference);
  }
};

/// All digits, and in the dual build the tangent too.
inline std::string digits(Real x) {
  char text[80];
#if defined(FLEDGE_DUAL)
  std::snprintf(text, sizeof text, "%.17g (tangent %.17g)", x.value, x.tangent);
#else
  std::snprintf(text, sizeof text, "%.17g", value_of(x));
#endif
  return text;
}

/// The first element at which `agree(found, expected)` is false.
template <class Agree>
Verdict compare(const Array& found, const Array& expected, Agree agree) {
  if (!found.exists() || !expected.exists()) return {"an array that does not exist"};
  if (!(found.shape() == expected.shape()))
    return {"shape " + to_string(found.shape()) + ", expected " + to_string(expected.shape())};
  const Real *const f = found.data(), *const e = expected.data();
  for (Dim i = 0, end = found.size(); i < end; ++i) {
    if (agree(f[i], e[i])) continue;
    return {"element " + std::to_string(i) + " of shape " + to_string(found.shape()) + " is " +
            digits(f[i]) + ", expected " + digits(e[i])};
  }
  return {};
}

/// -0 is not 0, and a NaN is its own bits only. Tangents are compared as numbers: their -0 is 0.
inline bool bits_agree(Real f, Real e) {
  const double value = value_of(f), expected_value = value_of(e);
  if (std::memcmp(&value, &expected_value, sizeof value) != 0) return false;
#if defined(FLEDGE_DUAL)
  return f.tangent == e.tangent || (std::isnan(f.tangent) && std::isnan(e.tangent));
#else
  return true;
#endif
}

/// The same shape, and the bits agree.
inline Verdict same_bits(const Array& found, const Array& expected) {
  return compare(found, expected, bits_agree);
}

/// The same shape and the same numbers: a NaN is any NaN, -0 is 0.
inline Verdict same_numbers(const Array& found, const Array& expected) {
  return compare(found, expected, [](Real f, Real e) { return f == e || (isnan(f) && isnan(e)); });
}

/// The same shape and |found − expected| ≤ tolerance·max(1, |expected|); infinities equal
/// themselves.
inline Verdict close(const Array& found, const Array& expected, double tolerance = rounding) {
  return compare(found, expected, [tolerance](Real f, Real e) {
    const double a = value_of(f), b = value_of(e);
    return a == b || std::abs(a - b) <= tolerance * std::max(1.0, std::abs(b));
  });
}

/// 1, 2, 3, … row by row.
inline Array counting(const Shape& shape) {
  Array x(shape);
  Real* to = x.write();
  for (Dim i = 0; i < x.size(); ++i) to[i] = real(i + 1);
  return x;
}

/// Uniform in [low, high).
inline Array uniform(const Shape& shape, std::uint64_t seed, double low = -2, double high = 2) {
  Rng rng(seed);
  return random_uniform(shape, low, high, rng);
}

/// Whole numbers from −9 to 9: sums and products of them are exact in every build.
inline Array integers(const Shape& shape, std::uint64_t seed) {
  Rng rng(seed);
  Array x(shape);
  Real* to = x.write();
  for (Dim i = 0; i < x.size(); ++i) to[i] = real(rng.below(19) - 9);
  return x;
}

/// x, in the dual build with the values of `t` as tangents.
inline Array with_tangents(Array x, [[maybe_unused]] const Array& t) {
#if defined(FLEDGE_DUAL)
  Real* const to = x.write();
  for (Dim i = 0, end = x.size(); i < end; ++i) to[i].tangent = t[i].value;
#endif
  return x;
}

}  // namespace tests
