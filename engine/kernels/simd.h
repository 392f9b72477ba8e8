// Vectors of numbers, as the compilers have them on every processor: no instruction is named here.
//
// Not here: loops. Key idea: Vec is as wide as the widest register that this build may use; kernels
// written with it are written once. A Dual is a vector of one: the same code, the plain loop.
#pragma once

#include <cstring>
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

#if defined(FLEDGE_DUAL)
using Vec = Real;
inline constexpr Dim lanes = 1;
#else
using Vec = Real __attribute__((vector_size(vector_bytes)));
inline constexpr Dim lanes = vector_bytes / static_cast<Dim>(sizeof(Real));
#endif

namespace vector_detail {

// A vector in memory, aligned or not. With std::memcpy in its place GCC 12 takes the bytes for a
// whole number: accumulators then pass through memory on their way into a loop and out of it.
#if defined(FLEDGE_DUAL)
struct InMemory {
  Vec numbers;
};
#else
struct [[gnu::packed, gnu::may_alias]] InMemory {
  Vec numbers;
};
#endif

}  // namespace vector_detail

/// The vector that begins at p, aligned or not.
inline Vec load(const Real* p) {
  return reinterpret_cast<const vector_detail::InMemory*>(p)->numbers;
}

inline void store(Real* p, Vec v) { reinterpret_cast<vector_detail::InMemory*>(p)->numbers = v; }

/// x in every lane.
inline Vec splat(Real x) {
#if defined(FLEDGE_DUAL)
  return x;
#else
  return x - Vec{};  // −0 − 0 = −0: every x stays what it is
#endif
}

/// The first n < lanes numbers at p; the rest is `fill`.
inline Vec load_first(const Real* p, Dim n, Real fill = Real(0)) {
  Real padded[lanes];
  for (Dim i = 0; i < lanes; ++i) padded[i] = i < n ? p[i] : fill;
  return load(padded);
}

inline void store_first(Real* p, Vec v, Dim n) {
  Real padded[lanes];
  store(padded, v);
  for (Dim i = 0; i < n; ++i) p[i] = padded[i];
}

/// v in its first n lanes, `fill` in the others.
inline Vec first_lanes(Vec v, Dim n, Real fill) {
#if defined(FLEDGE_DUAL)
  return n > 0 ? v : fill;
#else
  Vec lane;
  for (int i = 0; i < lanes; ++i) lane[i] = static_cast<Real>(i);
  return lane < static_cast<Real>(n) ? v : splat(fill);
#endif
}

#if defined(FLEDGE_DUAL)

template <class F>
Real fold(Vec v, F) {
  return v;
}
inline void transpose(Vec (&)[1]) {}
inline Vec load_halves(const Real* lower, const Real*) { return load(lower); }
inline void store_halves(Vec v, Real* lower, Real*) { store(lower, v); }

#else

namespace vector_detail {

using Lanes = std::make_integer_sequence<int, lanes>;

// v with its lanes moved `by` places down, round the end.
template <int by, int... i>
Vec rotated(Vec v, std::integer_sequence<int, i...>) {
  return __builtin_shufflevector(v, v, ((i + by) % static_cast<int>(lanes))...);
}

using Half = Real __attribute__((vector_size(vector_bytes / 2)));
struct [[gnu::packed, gnu::may_alias]] HalfInMemory {
  Half numbers;
};

template <int... i>
Vec joined(Half lower, Half upper, std::integer_sequence<int, i...>) {
  return __builtin_shufflevector(lower, upper, i...);
}
template <int from, int... i>
Half half_of(Vec v, std::integer_sequence<int, i...>) {
  return __builtin_shufflevector(v, v, (from + i)...);
}

// The squares of width × width off the diagonal of (a; b) change places.
template <int width, int... i>
void exchange(Vec& a, Vec& b, std::integer_sequence<int, i...>) {
  constexpr int from_b = static_cast<int>(lanes);
  const Vec upper = __builtin_shufflevector(a, b, ((i & width) == 0 ? i : from_b + i - width)...);
  b = __builtin_shufflevector(a, b, ((i & width) == 0 ? i + width : from_b + i)...);
  a = upper;
}

}  // namespace vector_detail

/// One number of all lanes by halves: f(f(v₀, v₄), f(v₂, v₆)) and so on; f takes two vectors.
template <int width = lanes / 2, class F>
Real fold(Vec v, F f) {
  if constexpr (width == 0)
    return v[0];
  else
    return fold<width / 2>(f(v, vector_detail::rotated<width>(v, vector_detail::Lanes())), f);
}

/// The lower half of a vector from one place, the upper half from another.
inline Vec load_halves(const Real* lower, const Real* upper) {
  const auto* const low = reinterpret_cast<const vector_detail::HalfInMemory*>(lower);
  const auto* const high = reinterpret_cast<const vector_detail::HalfInMemory*>(upper);
  return vector_detail::joined(low->numbers, high->numbers, vector_detail::Lanes());
}
inline void store_halves(Vec v, Real* lower, Real* upper) {
  using HalfLanes = std::make_integer_sequence<int, lanes / 2>;
  reinterpret_cast<vector_detail::HalfInMemory*>(lower)->numbers =
      vector_detail::half_of<0>(v, HalfLanes());
  reinterpret_cast<vector_detail::HalfInMemory*>(upper)->numbers =
      vector_detail::half_of<lanes / 2>(v, HalfLanes());
}

/// Row i of a square becomes its column i, square by square within it. With fewer rows than lanes
/// there are several squares side by side, each of which is transposed.
template <int rows, int width = rows / 2>
[[gnu::always_inline]] inline void transpose(Vec (&square)[rows]) {
  if constexpr (width > 0) {
    for (int i = 0; i < rows; ++i)
      if ((i & width) == 0)
        vector_detail::exchange<width>(square[i], square[i + width], vector_detail::Lanes());
    transpose<rows, width / 2>(square);
  }
}

#endif

inline Real sum_of(Vec v) {
  return fold(v, [](Vec a, Vec b) { return a + b; });
}

/// The larger of a and b, of numbers or lane by lane; a NaN on either side wins.
inline Real larger(Real a, Real b) { return a >= b || isnan(a) ? a : b; }
#if !defined(FLEDGE_DUAL)
inline Vec larger(Vec a, Vec b) {
  const Vec most = a < b ? b : a;  // a where either is NaN
  return b <= static_cast<Real>(infinity) ? most : b;
}
#endif

/// Calls f(i, lanes) for i = 0, lanes, 2·lanes, …, and f(i, rest) for the rest.
template <class F>
void by_vectors(Dim n, F f) {
  Dim i = 0;
  for (; i + lanes <= n; i += lanes) f(i, lanes);
  if (i < n) f(i, n - i);
}

inline Vec load(const Real* p, Dim n, Real fill = Real(0)) {
  return n == lanes ? load(p) : load_first(p, n, fill);
}
inline void store(Real* p, Vec v, Dim n) { n == lanes ? store(p, v) : store_first(p, v, n); }

}  // namespace fledge::kernels
