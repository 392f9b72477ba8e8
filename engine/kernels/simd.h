// SIMD vectors of Real, by the vector types of GCC and Clang: no instruction is named here.
//
// A Vec is as wide as the widest register that the file may use, and a kernel is written once for
// every width. In the dual build a Vec is two vectors of double, the values and the tangents of its
// lanes, so the loops that train are the loops that are checked.
#pragma once

#include <type_traits>
#include <utility>

#include "engine/real.h"

namespace fledge::kernels {

#if defined(__AVX512F__)
inline constexpr int vector_bytes = 64;
inline constexpr int vector_registers = 32;
#elif defined(__AVX__)
inline constexpr int vector_bytes = 32;
inline constexpr int vector_registers = 16;
#elif defined(__aarch64__)
inline constexpr int vector_bytes = 16;
inline constexpr int vector_registers = 32;
#else
inline constexpr int vector_bytes = 16;
inline constexpr int vector_registers = 16;
#endif

/// The number in a lane of a register: Real, or of a Dual the double that is its value or tangent.
using Native = std::conditional_t<std::is_same_v<Real, float>, float, double>;
using NativeVec = Native __attribute__((vector_size(vector_bytes)));
/// What a comparison of vectors gives: for each lane, all bits set or none.
using LaneMask = decltype(NativeVec{} < NativeVec{});
inline constexpr Dim lanes = vector_bytes / static_cast<Dim>(sizeof(Native));

namespace simd_detail {

// Vectors in memory, aligned or not. With std::memcpy instead, GCC 12 treats the bytes as an
// integer: accumulators then pass through memory before and after a loop.
using Half = Native __attribute__((vector_size(vector_bytes / 2)));
struct [[gnu::packed, gnu::may_alias]] InMemory {
  NativeVec numbers;
};
struct [[gnu::packed, gnu::may_alias]] HalfInMemory {
  Half numbers;
};

// The lanes index(i) of a followed by b.
template <class Index, class V, int... i>
auto pick(V a, V b, Index, std::integer_sequence<int, i...>) {
  return __builtin_shufflevector(a, b, static_cast<int>(Index()(i))...);
}
using AllLanes = std::make_integer_sequence<int, lanes>;
using HalfOfLanes = std::make_integer_sequence<int, lanes / 2>;

}  // namespace simd_detail

/// The vector that begins at p, aligned or not.
inline NativeVec load(const Native* p) {
  return reinterpret_cast<const simd_detail::InMemory*>(p)->numbers;
}
inline void store(Native* p, NativeVec v) {
  reinterpret_cast<simd_detail::InMemory*>(p)->numbers = v;
}

/// Prefetch p into L2, and into L1. Any address is allowed.
inline void prefetch_far(const void* p) { __builtin_prefetch(p, 0, 2); }
inline void prefetch_near(const void* p) { __builtin_prefetch(p, 0, 3); }

/// The lower half of a vector from one address, the upper half from another.
inline NativeVec load_halves(const Native* lower, const Native* upper) {
  using simd_detail::HalfInMemory;
  return simd_detail::pick(
      reinterpret_cast<const HalfInMemory*>(lower)->numbers,
      reinterpret_cast<const HalfInMemory*>(upper)->numbers, [](Dim i) { return i; },
      simd_detail::AllLanes());
}
inline void store_halves(NativeVec v, Native* lower, Native* upper) {
  using simd_detail::HalfInMemory, simd_detail::pick, simd_detail::HalfOfLanes;
  reinterpret_cast<HalfInMemory*>(lower)->numbers = pick(
      v, v, [](Dim i) { return i; }, HalfOfLanes());
  reinterpret_cast<HalfInMemory*>(upper)->numbers = pick(
      v, v, [](Dim i) { return i + lanes / 2; }, HalfOfLanes());
}

/// x in every lane.
inline NativeVec splat(Native x) { return x - NativeVec{}; }  // −0 − 0 = −0: every x is kept

inline Native lane(NativeVec v, int i) { return v[i]; }

/// In each lane a where the mask is set, else b.
template <class V>
V select(LaneMask mask, V a, V b) {
  return mask ? a : b;
}

/// Lane i is lane index(i) of a followed by b.
template <class Index>
NativeVec shuffle(NativeVec a, NativeVec b, Index index) {
  return simd_detail::pick(a, b, index, simd_detail::AllLanes());
}

/// sum += x·b, by one fused multiply-add where the processor has it.
inline void add_product(NativeVec& sum, NativeVec x, NativeVec b) { sum += x * b; }

#if defined(FLEDGE_DUAL)

/// A Dual in every lane. The rules of arithmetic are those of engine/dual.h.
struct Vec {
  NativeVec value, tangent;

  Vec() = default;  // not yet written
  Vec(NativeVec v, NativeVec t) : value(v), tangent(t) {}
  Vec(Real x) : value(splat(x.value)), tangent(splat(x.tangent)) {}
};

inline Vec operator+(Vec a, Vec b) { return {a.value + b.value, a.tangent + b.tangent}; }
inline Vec operator-(Vec a, Vec b) { return {a.value - b.value, a.tangent - b.tangent}; }
inline Vec operator*(Vec a, Vec b) {
  return {a.value * b.value, a.tangent * b.value + a.value * b.tangent};
}
inline Vec operator/(Vec a, Vec b) {
  const NativeVec quotient = a.value / b.value;
  return {quotient, (a.tangent - quotient * b.tangent) / b.value};
}
inline Vec operator-(Vec a) { return {-a.value, -a.tangent}; }
inline Vec& operator+=(Vec& a, Vec b) { return a = a + b; }

inline LaneMask operator<(Vec a, Vec b) { return a.value < b.value; }
inline LaneMask operator>(Vec a, Vec b) { return a.value > b.value; }
inline LaneMask operator<=(Vec a, Vec b) { return a.value <= b.value; }
inline LaneMask operator>=(Vec a, Vec b) { return a.value >= b.value; }
inline LaneMask operator==(Vec a, Vec b) { return a.value == b.value; }

inline Vec splat(Real x) { return x; }
inline Real lane(Vec v, int i) { return {v.value[i], v.tangent[i]}; }
inline Vec select(LaneMask mask, Vec a, Vec b) {
  return {select(mask, a.value, b.value), select(mask, a.tangent, b.tangent)};
}
template <class Index>
Vec shuffle(Vec a, Vec b, Index index) {
  return {shuffle(a.value, b.value, index), shuffle(a.tangent, b.tangent, index)};
}

// In memory value and tangent take turns: half as many Duals fill one NativeVec.
inline Vec load_halves(const Real* lower, const Real* upper) {
  const NativeVec a = load(&lower->value), b = load(&upper->value);
  return {shuffle(a, b, [](Dim i) { return 2 * i; }),
          shuffle(a, b, [](Dim i) { return 2 * i + 1; })};
}
inline void store_halves(Vec v, Real* lower, Real* upper) {
  const auto lane_of = [](Dim i) { return i / 2 + i % 2 * lanes; };
  const auto upper_lane_of = [](Dim i) { return (i + lanes) / 2 + i % 2 * lanes; };
  store(&lower->value, shuffle(v.value, v.tangent, lane_of));
  store(&upper->value, shuffle(v.value, v.tangent, upper_lane_of));
}
inline Vec load(const Real* p) { return load_halves(p, p + lanes / 2); }
inline void store(Real* p, Vec v) { store_halves(v, p, p + lanes / 2); }

// As three sums of one product each, or the compiler would choose which product it fuses, and the
// bits of a number would depend on the loop around it.
inline void add_product(Vec& sum, Vec x, Vec b) {
  add_product(sum.value, x.value, b.value);
  add_product(sum.tangent, x.tangent, b.value);
  add_product(sum.tangent, x.value, b.tangent);
}

#else
using Vec = NativeVec;
#endif

/// The first n ≤ lanes numbers at p; the other lanes hold `fill`.
inline Vec load(const Real* p, Dim n, Real fill = Real(0)) {
  if (n == lanes) return load(p);
  Real padded[lanes];
  for (Dim i = 0; i < lanes; ++i) padded[i] = i < n ? p[i] : fill;
  return load(padded);
}
inline void store(Real* p, Vec v, Dim n) {
  if (n == lanes) return store(p, v);
  Real padded[lanes];
  store(padded, v);
  for (Dim i = 0; i < n; ++i) p[i] = padded[i];
}

/// v in its first n lanes, `fill` in the others.
inline Vec first_lanes(Vec v, Dim n, Real fill) {
  NativeVec index;
  for (int i = 0; i < lanes; ++i) index[i] = static_cast<Native>(i);
  return select(index < static_cast<Native>(n), v, splat(fill));
}

/// One number of all lanes by halves: f(f(v₀, v₄), f(v₂, v₆)) and so on; f takes two vectors.
template <int width = lanes / 2, class F>
Real fold(Vec v, F f) {
  if constexpr (width == 0)
    return lane(v, 0);
  else
    return fold<width / 2>(f(v, shuffle(v, v, [](Dim i) { return (i + width) % lanes; })), f);
}
inline Real sum_of(Vec v) {
  return fold(v, [](Vec a, Vec b) { return a + b; });
}

/// Row i of a square becomes its column i, square by square within it. With fewer rows than lanes
/// there are several squares side by side, each of which is transposed.
template <int rows, int width = rows / 2>
[[gnu::always_inline]] inline void transpose(Vec (&square)[rows]) {
  if constexpr (width > 0) {
    for (int i = 0; i < rows; ++i) {
      if ((i & width) != 0) continue;
      const Vec a = square[i], b = square[i + width];
      square[i] = shuffle(a, b, [](Dim j) { return (j & width) == 0 ? j : lanes + j - width; });
      square[i + width] =
          shuffle(a, b, [](Dim j) { return (j & width) == 0 ? j + width : lanes + j; });
    }
    transpose<rows, width / 2>(square);
  }
}

/// The larger of a and b, lane by lane; a where either is NaN. A softmax begins with a = −∞, so the
/// largest number of its row is never NaN. For a NaN x, exp(x − largest) is NaN, and so is the sum.
inline Vec larger(Vec a, Vec b) { return select(a < b, b, a); }

/// Calls f(i, lanes) for i = 0, lanes, 2·lanes, …, and f(i, rest) for the rest.
template <class F>
void by_vectors(Dim n, F f) {
  Dim i = 0;
  for (; i + lanes <= n; i += lanes) f(i, lanes);
  if (i < n) f(i, n - i);
}

}  // namespace fledge::kernels
