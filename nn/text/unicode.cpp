#include "nn/text/unicode.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <iterator>

namespace fledge {

namespace {

constexpr auto L = CodePointClass::letter, N = CodePointClass::number, W = CodePointClass::space;

// Code points of one class that follow each other.
struct ClassRange {
  std::uint32_t first;
  std::uint16_t count;
  CodePointClass kind;
};

constexpr ClassRange ranges[] = {
#include "nn/text/unicode_ranges.inc"
};

// Binary search.
CodePointClass class_in_ranges(char32_t point) {
  const auto after =
      std::upper_bound(std::begin(ranges), std::end(ranges), point,
                       [](char32_t value, const ClassRange& range) { return value < range.first; });
  if (after == std::begin(ranges)) return CodePointClass::other;
  const ClassRange& range = *std::prev(after);
  return point - range.first < range.count ? range.kind : CodePointClass::other;
}

}  // namespace

CodePointClass class_of(char32_t point) {
  static const auto of_ascii = [] {  // most code points of most texts
    std::array<CodePointClass, 128> table{};
    for (char32_t c = 0; c < 128; ++c) table[c] = class_in_ranges(c);
    return table;
  }();
  return point < 128 ? of_ascii[point] : class_in_ranges(point);
}

}  // namespace fledge
