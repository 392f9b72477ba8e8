// exp, log, sqrt, tanh, sin, cos, expm1 and log1p of a vector, and the normal distribution.
//
// In double and Dual: the functions of <cmath> and engine/dual.h, lane by lane. These builds check
// the float build, so they are exact rather than fast; but half of a gradient check was exp.
// In float: polynomials without a branch; sin, cos in double. For every number the error is at most
// 2 units in the last place, of the normal distribution 5; infinities and NaN give what IEEE 754
// requires. The polynomials were fitted for this file, with the least relative error; coefficients
// were rounded to float last. Method: Cody & Waite 1980.
#pragma once

#include <numbers>
#include <utility>

#include "engine/kernels/simd.h"

namespace fledge {

using kernels::Vec;

/// Φ, the distribution function of the normal distribution, and its density φ = Φ′.
struct NormalCdf {
  Vec weighted, cdf, density;  // x·Φ(x), Φ(x), φ(x)
};

struct SinCosVec {
  Vec sine, cosine;
};

#if defined(FLEDGE_DUAL)

template <class F>
Vec each_lane(Vec x, F f) {
  Real numbers[kernels::lanes];
  kernels::store(numbers, x);
  for (Real& v : numbers) v = f(v);
  return kernels::load(numbers);
}
/// eˣ to a unit in the last place. Not inline: optimised otherwise it would have other bits.
Vec exp(Vec x);
inline Vec exp_of_weight(Vec x) { return exp(x); }
inline Vec log(Vec x) {
  return each_lane(x, [](Real v) { return log(v); });
}
inline Vec sqrt(Vec x) {
  return each_lane(x, [](Real v) { return sqrt(v); });
}
inline Vec tanh(Vec x) {
  return each_lane(x, [](Real v) { return tanh(v); });
}
inline SinCosVec sin_cos(Vec x) {
  return {each_lane(x, [](Real v) { return sin(v); }), each_lane(x, [](Real v) { return cos(v); })};
}
inline Vec expm1(Vec x) {
  return each_lane(x, [](Real v) { return expm1(v); });
}
inline Vec log1p(Vec x) {
  return each_lane(x, [](Real v) { return log1p(v); });
}
inline NormalCdf normal_cdf(Vec x) {
  const Vec cdf = each_lane(x, [](Real v) { return normal_cdf(v); });
  return {x * cdf, cdf, each_lane(x, [](Real v) { return normal_density(v); })};
}

#else

using kernels::select;
using kernels::splat;
using VecInt = std::int32_t __attribute__((vector_size(kernels::vector_bytes)));

namespace detail {

/// c₀ + c₁·x + c₂·x² + …
template <class... Rest>
Vec polynomial(Vec x, float c0, Rest... rest) {
  if constexpr (sizeof...(rest) == 0)
    return splat(c0);
  else
    return polynomial(x, rest...) * x + c0;
}

/// 2ⁿ for −126 ≤ n ≤ 127
inline Vec power_of_two(VecInt n) { return (Vec)((n + 127) << 23); }

constexpr float ln2_high = 0.693359375f;  // few bits: its product with a whole number is exact
constexpr float ln2_low = -2.12194440e-4f;

inline constexpr std::int32_t sign_bit = std::numeric_limits<std::int32_t>::min();
inline VecInt sign_of(Vec x) { return (VecInt)x & sign_bit; }
inline Vec magnitude(Vec x) { return (Vec)((VecInt)x & ~sign_bit); }

// e to the sum of x and of parts so small that x would lose their digits, as two factors: eʳ − 1,
// and n for 2ⁿ. The small parts are added to r.
template <class... Small>
std::pair<Vec, VecInt> exp_factors(Vec x, Small... parts) {
  constexpr float shift = 12582912;  // 1.5·2²³: adding it rounds to a whole number in the low bits
  const Vec shifted = (x + ... + parts) * 1.44269504f + shift;
  const Vec n = shifted - shift;
  const Vec r = (((x - n * ln2_high) - n * ln2_low) + ... + parts);
  const Vec p = polynomial(r, 0.49999994f, 0.16666509f, 0.041668527f, 0.008370135f, 0.0013811663f);
  return {r + r * r * p, (VecInt)shifted - (VecInt)splat(shift)};
}

// Their product, for a sum from −106 to 89.
template <class... Small>
Vec exp_of_sum(Vec x, Small... parts) {
  const auto [y, n] = exp_factors(x, parts...);
  const VecInt half = n >> 1;  // 2ⁿ itself may be out of range where eˣ is not
  return (1.0f + y) * power_of_two(half) * power_of_two(n - half);
}

}  // namespace detail

/// eˣ = 2ⁿ·eʳ, n = round(x / ln 2), |r| ≤ ln 2 / 2
inline Vec exp(Vec x) {
  x = select(x > 89.0f, splat(89), x);  // e⁸⁹ overflows, e⁻¹⁰⁴ is below half the smallest number
  x = select(x < -104.0f, splat(-104), x);
  return detail::exp_of_sum(x);
}

/// eˣ for x ≤ 88, and 0 for x < −87.7, where eˣ is less than 2⁻¹²⁶: faster than exp(), for weights
/// of at most 1. For n = −127, power_of_two(n) is 0.
inline Vec exp_of_weight(Vec x) {
  const auto [y, n] = detail::exp_factors(select(x < -88.0f, splat(-88), x));
  return (1.0f + y) * detail::power_of_two(n);
}

/// eˣ − 1 = 2ⁿ·(eʳ − 1) + (2ⁿ − 1). From x = 17 on it is eˣ to the last place, below −18 it is −1.
inline Vec expm1(Vec x) {
  const Vec few = select(x < -18.0f, splat(-18), select(x < 17.0f, x, splat(17)));
  const auto [y, n] = detail::exp_factors(few);
  const Vec scale = detail::power_of_two(n);
  const Vec sum = y * scale + (scale - 1.0f);
  return select(x == 0.0f, x, select(x < 17.0f, sum, exp(x)));  // −0 stays −0
}

/// log x = e·ln 2 + log m, x = 2ᵉ·m, √½ ≤ m < √2
inline Vec log(Vec x) {
  constexpr std::int32_t root_half = 0x3f3504f3;
  const VecInt tiny = x < std::numeric_limits<float>::min();
  const Vec positive = select(x > 0.0f, x, splat(1));  // the others are answered below
  const Vec scaled =
      select(tiny, positive * 8388608.0f, positive);  // 2²³: their exponent cannot be read
  const VecInt above = (VecInt)scaled - root_half;
  const VecInt exponent = above >> 23;
  const Vec f = (Vec)((VecInt)scaled - (exponent << 23)) - 1.0f;
  const Vec e = __builtin_convertvector(select(tiny, exponent - 23, exponent), Vec);
  const Vec p =
      detail::polynomial(f, 0.33333313f, -0.25000009f, 0.20002119f, -0.16667996f, 0.14219552f,
                         -0.12405589f, 0.11888163f, -0.11675651f, 0.067466386f);
  const Vec square = f * f;
  Vec y = f + (square * f * p - 0.5f * square + e * detail::ln2_low) + e * detail::ln2_high;
  constexpr float inf = std::numeric_limits<float>::infinity();
  y = select(x < inf, y, x);  // infinity and NaN
  y = select(x == 0.0f, splat(-inf), y);
  return select(x < 0.0f, splat(std::numeric_limits<float>::quiet_NaN()), y);
}

/// log(1 + x) = log u + (x − (u − 1)) / u, u = 1 + x rounded: the second term is the part of x that
/// u lost.
inline Vec log1p(Vec x) {
  const Vec u = x + 1.0f;
  const Vec lost = select(x < 1.0f, x - (u - 1.0f), 1.0f - (u - x));
  const auto regular = (u > 0.0f) & (u < std::numeric_limits<float>::infinity());
  const Vec y = log(u) + select(regular, lost / u, splat(0));
  return select(x == 0.0f, x, y);  // −0 stays −0
}

/// In double, rounded once: right to half a unit, up to the last bits of the C library's double.
inline SinCosVec sin_cos(Vec x) {
  SinCosVec y{};
  for (int i = 0; i < kernels::lanes; ++i) {
    const auto angle = static_cast<double>(x[i]);
    y.sine[i] = static_cast<float>(std::sin(angle));
    y.cosine[i] = static_cast<float>(std::cos(angle));
  }
  return y;
}

inline Vec sqrt(Vec x) {
  for (int i = 0; i < kernels::lanes; ++i) x[i] = std::sqrt(x[i]);
  return x;
}

/// tanh x = x + x³·P(x²) near 0, else ±(1 − 2 / (e²ᵃ + 1)), a = |x|
inline Vec tanh(Vec x) {
  const Vec a = detail::magnitude(x), square = x * x;
  const Vec near = x + x * square *
                           detail::polynomial(square, -0.3333328f, 0.13331442f, -0.053739715f,
                                              0.020639086f, -0.0057049864f);
  const Vec far = 1.0f - 2.0f / (exp(a + a) + 1.0f);
  return (Vec)((VecInt)select(a < 0.625f, near, far) | detail::sign_of(x));  // −0 stays −0
}

/// φ(x) = bell / √(2π), bell = exp(−x²/2), x²/2 = h²/2 + (a − h)·(a + h)/2, a = |x|, h its first
/// 12 bits, whose square is exact; exp(−14.5²/2) is 0.
/// Φ(−a) = ratio·bell, ratio = t·P(a·t), t = 1 / (1 + 0.4·a), P a polynomial about the middle.
/// 1 + erf would lose every digit there. x·Φ(x) is not a product with Φ(x), which has few digits
/// where it is below the smallest normal number.
inline NormalCdf normal_cdf(Vec x) {
  const Vec size = detail::magnitude(x), a = select(size > 14.5f, splat(14.5f), size);
  const Vec h = (Vec)((VecInt)a & ~0xfff);
  const Vec t = 1.0f / (1.0f + 0.4f * a);
  const Vec p = detail::polynomial(
      a * t - 1.25f, 0.28266266f, -0.138781458f, 0.0337887295f, 0.00189163256f, -0.00268494361f,
      -0.000210163824f, 0.000264943403f, 5.77717365e-05f, -2.10226935e-05f, -8.59044121e-06f);
  const Vec bell = detail::exp_of_sum(-0.5f * h * h, -0.5f * (a - h) * (a + h)), ratio = t * p;
  const Vec tail = bell * ratio, most = 1.0f - tail;
  constexpr auto scale = static_cast<float>(std::numbers::inv_sqrtpi / std::numbers::sqrt2);
  return {select(x < 0.0f, x * ratio * bell, x * most), select(x < 0.0f, tail, most), scale * bell};
}

#endif

}  // namespace fledge
