// A cosine with the same bits everywhere: those of std::cos differ between libraries.
#pragma once

#include <cmath>
#include <numbers>

namespace fledge {

/// cos(πx) for x ≥ 0. Errs by less than 2·10⁻¹⁶; exact where x is a multiple of ½.
inline double cos_pi(double x) {
  x = std::fmod(x, 2.0);
  if (x > 1) x = 2 - x;  // cos(π(2 − x)) = cos(πx); no subtraction here rounds
  const double sign = x > 0.5 ? -1 : 1;
  if (x > 0.5) x = 1 - x;  // cos(π(1 − x)) = −cos(πx)
  // The Taylor series of the cosine for x ≤ ¼, else of the sine at ½ − x: both for angles up to π/4.
  const bool is_sine = x > 0.25;
  const double angle = std::numbers::pi * (is_sine ? 0.5 - x : x), square = angle * angle;
  double sum = 1;
  for (int n = is_sine ? 17 : 16; n > 1; n -= 2) sum = 1 - sum * square / (n * (n - 1));
  return sign * (is_sine ? angle * sum : sum);
}

}  // namespace fledge
