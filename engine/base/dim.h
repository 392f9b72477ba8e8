// Dim: the type of sizes and indices.                                           Next: errors.h.
#pragma once

#include <cstdint>
#include <limits>

#if defined(__FINITE_MATH_ONLY__) && __FINITE_MATH_ONLY__
#error "fledge needs infinities (masks) and NaN (checks): build without -ffast-math, -Ofast"
#endif

namespace fledge {

/// Sizes and indices: signed, 64 bits, everywhere.
using Dim = std::int64_t;

/// The indices begin … end − 1, of keys or of queries.
struct IndexRange {
  Dim begin, end;
  Dim size() const { return end - begin; }
};

static_assert(std::numeric_limits<float>::is_iec559 && std::numeric_limits<double>::is_iec559);

/// The smallest number of parts of at most `part` numbers that hold `size` numbers: ⌈size / part⌉.
constexpr Dim ceil_div(Dim size, Dim part) { return (size + part - 1) / part; }

inline constexpr double infinity = std::numeric_limits<double>::infinity();

}  // namespace fledge
