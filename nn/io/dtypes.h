// The types of numbers in a safetensors file, and how they are read and written.
#pragma once

#include <cstddef>
#include <string_view>

#include "engine/real.h"

namespace fledge {

struct Dtype {
  std::string_view name;  // "F32"
  std::size_t bytes;      // of a number, which is little-endian
  /// Reads numbers and rounds them to Real, up to the first that is not finite or above `most`.
  /// Returns how many it read.
  std::size_t (*read)(const char* from, std::size_t count, double most, Real* to);
  /// The largest absolute value that is read. For whole numbers of 8 bytes it is 2⁵³ − 1: a double
  /// does not hold all larger ones.
  double most;
  /// Writes a number, rounded to the nearest of this type, of two equally near ones to the even one
  /// (IEEE 754). A number that is too large becomes infinite. Null for a type that is only read.
  void (*write)(Real number, char* to) = nullptr;
};

/// F64, F32, F16, BF16, I64, I32, I16, I8, U8 or BOOL; null for another name.
const Dtype* find_dtype(std::string_view name);

/// How writing numbers as a type changes them.
struct Rounding {
  Dim changed = 0;     // numbers that are not of the type
  Dim infinite = 0;    // numbers that are too large for it
  double largest = 0;  // the largest change of a number that stays finite
};
Rounding rounding_of(const Real* numbers, Dim count, const Dtype& type);

}  // namespace fledge
