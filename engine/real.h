// Real: the number type of the build. One source, three libraries:
//
//   fledge        Real = float    to train            (nothing defined)
//   fledge64      Real = double   to check            FLEDGE_DOUBLE
//   fledge_dual   Real = Dual     exact derivatives   FLEDGE_DUAL
//
// Each build lives in an inline namespace of its own, so one program may link two of them.
// Not here: any switch at run time. Next: shape.h.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>

#if defined(__FINITE_MATH_ONLY__) && __FINITE_MATH_ONLY__
#error "fledge needs infinities (masks) and NaN (checks): build without -ffast-math, -Ofast"
#endif

#if defined(FLEDGE_DUAL) && defined(FLEDGE_DOUBLE)
#error "a file has one number type: compile it once for fledge64 and once for fledge_dual"
#endif

#if defined(FLEDGE_DUAL)
#include "engine/dual.h"
#define FLEDGE_BUILD dual
#elif defined(FLEDGE_DOUBLE)
#define FLEDGE_BUILD f64
#else
#define FLEDGE_BUILD f32
#endif

namespace fledge::inline FLEDGE_BUILD {

#if defined(FLEDGE_DUAL)
using Real = Dual;
#elif defined(FLEDGE_DOUBLE)
using Real = double;
#else
using Real = float;
#endif

/// Sizes and indices: signed, 64 bits, everywhere.
using Dim = std::int64_t;

static_assert(std::numeric_limits<float>::is_iec559 && std::numeric_limits<double>::is_iec559);

// The elementary functions of Real, found by these names whatever Real is.
using std::exp;
using std::isfinite;
using std::isnan;
using std::log;
using std::pow;
using std::sqrt;
using std::tanh;

/// The plain number behind x: x itself, or the value part of a Dual.
inline double value_of(Real x) {
#if defined(FLEDGE_DUAL)
  return x.value;
#else
  return static_cast<double>(x);
#endif
}

/// A size as a Real.
constexpr Real real(Dim n) { return Real(static_cast<double>(n)); }

inline constexpr double infinity = std::numeric_limits<double>::infinity();

}  // namespace fledge::inline FLEDGE_BUILD
