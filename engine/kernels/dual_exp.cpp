// exp of a vector of Dual: lane by lane in <cmath> it took half of a gradient check.
#include "engine/kernels/simd_math.h"

#if defined(FLEDGE_DUAL)

namespace fledge {

// eˣ = 2ⁿ·eʳ, n = round(x / ln 2), |r| ≤ ln 2 / 2.
// eʳ = 1 + r + r²/2·(1 + r/3·(1 + r/4·(…))): the first term left out, r¹⁴/14!, is at most 4e-18.
Vec exp(Vec x) {
  using kernels::NativeVec, kernels::select, kernels::splat;
  using Bits = kernels::LaneMask;
  constexpr double shift = 6755399441055744;  // 1.5·2⁵²: adding it rounds to a whole number
  constexpr double ln2_high = 0x1.62e42feep-1, ln2_low = 0x1.a39ef35793c76p-33;
  NativeVec v = select(x.value > 710.0, splat(710), x.value);  // e⁷¹⁰ overflows,
  v = select(v < -746.0, splat(-746), v);  // e⁻⁷⁴⁶ is below half the smallest number
  const NativeVec shifted = v * std::numbers::log2e + shift, n = shifted - shift;
  const NativeVec high = v - n * ln2_high, r = high - n * ln2_low, lost = high - r - n * ln2_low;
  NativeVec series = splat(1);
  for (int k = 13; k > 2; --k) series = series * (r * (1.0 / k)) + 1.0;
  const NativeVec y = 1.0 + (r + (0.5 * r * r * series + lost));
  const Bits whole = (Bits)shifted - (Bits)splat(shift), half = whole >> 1;
  const auto scale = [](Bits power) { return (NativeVec)((power + 1023) << 52); };
  const NativeVec result = y * scale(half) * scale(whole - half);  // 2ⁿ itself may be out of range
  return {result, result * x.tangent};
}

}  // namespace fledge

#endif
