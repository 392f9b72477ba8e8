// Sines and cosines with the same bits everywhere: those of std::cos differ between libraries.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>
#include <numbers>

namespace fledge {

namespace detail {

/// The Taylor series of the sine or the cosine, for angles up to π/4.
inline double sine_or_cosine(double angle, bool is_sine) {
  const double square = angle * angle;
  double sum = 1;
  for (int n = is_sine ? 17 : 16; n > 1; n -= 2) sum = 1 - sum * square / (n * (n - 1));
  return is_sine ? angle * sum : sum;
}

}  // namespace detail

/// cos(πx) for x ≥ 0. Errs by less than 2·10⁻¹⁶; exact where x is a multiple of ½.
inline double cos_pi(double x) {
  x = std::fmod(x, 2.0);
  if (x > 1) x = 2 - x;  // cos(π(2 − x)) = cos(πx); no subtraction here rounds
  const double sign = x > 0.5 ? -1 : 1;
  if (x > 0.5) x = 1 - x;  // cos(π(1 − x)) = −cos(πx)
  // The Taylor series of the cosine for x ≤ ¼, else of the sine at ½ − x: both for angles up to π/4.
  const bool is_sine = x > 0.25;
  return sign * detail::sine_or_cosine(std::numbers::pi * (is_sine ? 0.5 - x : x), is_sine);
}

struct SinCos {
  float sine, cosine;
};

/// sin x and cos x, rounded once from double. With |x| = m·2ᵉ, m of 24 bits, the number of quarter
/// turns is m·2ᵉ·2/π. Only its value modulo 4 counts, so the bits of 2/π that give multiples of 4
/// are skipped, and those that follow are multiplied by m in 64-bit integers.  Payne & Hanek 1983
inline SinCos sin_cos(float x) {
  static constexpr std::uint64_t two_over_pi[] = {
      // after 64 zeros
      0, 0xa2f9836e4e441529, 0xfc2757d1f534ddc0, 0xdb6295993c439041, 0xfe5163abdebbc561};
  if (!std::isfinite(x)) {
    const float nan = std::numeric_limits<float>::quiet_NaN();
    return {nan, nan};
  }
  double angle = std::abs(static_cast<double>(x));
  std::uint64_t quarters = 0;
  if (angle > std::numbers::pi / 4) {
    int exponent = 0;
    const auto m = static_cast<std::uint64_t>(std::ldexp(std::frexp(angle, &exponent), 24));
    const int first = exponent - 24 + 62, word = first / 64, shift = first % 64;
    const auto window = [=](int i) {
      const std::uint64_t low = shift == 0 ? 0 : two_over_pi[i + 1] >> (64 - shift);
      return two_over_pi[i] << shift | low;
    };
    const std::uint64_t turned = m * window(word) + (m * (window(word + 1) >> 32) >> 32);
    quarters = (turned + (std::uint64_t{1} << 61)) >> 62;
    const auto rest = static_cast<std::int64_t>(turned - (quarters << 62));
    angle = std::ldexp(static_cast<double>(rest), -62) * (std::numbers::pi / 2);
  }
  double sine = detail::sine_or_cosine(angle, true), cosine = detail::sine_or_cosine(angle, false);
  if (quarters % 2 == 1) {  // sin(a + π/2) = cos a, cos(a + π/2) = −sin a
    const double before = sine;
    sine = cosine, cosine = -before;
  }
  if (quarters >= 2) sine = -sine, cosine = -cosine;
  return {static_cast<float>(std::signbit(x) ? -sine : sine), static_cast<float>(cosine)};
}

}  // namespace fledge
