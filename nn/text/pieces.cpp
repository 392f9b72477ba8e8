#include "nn/text/pieces.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <iterator>

#include "nn/io/utf8.h"

namespace fledge {

namespace {

// The classes of Unicode 14.0 (2021; section 4.5, table 4-4, and PropList.txt). Surrogates, numbers
// over U+10FFFF and code points that have no character there are "other".
enum class CodePointClass {
  letter,  // \p{L}: general category Lu, Ll, Lt, Lm or Lo
  number,  // \p{N}: Nd, Nl or No
  space,   // \s: the property White_Space
  other
};

// Code points of one class that follow each other.
struct ClassRange {
  std::uint32_t first;
  std::uint16_t count;
  CodePointClass kind;
};

// Binary search.
CodePointClass class_in_ranges(char32_t point) {
  constexpr auto L = CodePointClass::letter, N = CodePointClass::number, W = CodePointClass::space;
  static constexpr ClassRange ranges[] = {
#include "nn/text/unicode_ranges.inc"
  };
  const auto after =
      std::upper_bound(std::begin(ranges), std::end(ranges), point,
                       [](char32_t value, const ClassRange& range) { return value < range.first; });
  if (after == std::begin(ranges)) return CodePointClass::other;
  const ClassRange& range = *std::prev(after);
  return point - range.first < range.count ? range.kind : CodePointClass::other;
}

CodePointClass class_of(char32_t point) {
  static const auto of_ascii = [] {  // most code points of most texts
    std::array<CodePointClass, 128> table{};
    for (char32_t c = 0; c < 128; ++c) table[c] = class_in_ranges(c);
    return table;
  }();
  return point < 128 ? of_ascii[point] : class_in_ranges(point);
}

// Code points of one class in a row.
struct ClassRun {
  CodePointClass kind;
  std::size_t end;   // the position after the run
  std::size_t last;  // the position where its last code point begins
};

// For a byte that is not UTF-8, code_point_at() gives U+FFFD. The class of this code point is
// "other".
ClassRun run_at(std::string_view text, std::size_t at) {
  CodePoint point = code_point_at(text, at);
  ClassRun run{class_of(point.value), at + point.bytes, at};
  while (run.end < text.size()) {
    point = code_point_at(text, run.end);
    if (class_of(point.value) != run.kind) break;
    run.last = run.end;
    run.end += point.bytes;
  }
  return run;
}

}  // namespace

std::string_view piece_at(std::string_view text, std::size_t at) {
  if (text[at] == '\'')
    for (const std::string_view ending : {"'s", "'t", "'re", "'ve", "'m", "'ll", "'d"})
      if (text.substr(at, ending.size()) == ending) return text.substr(at, ending.size());
  if (text[at] == ' ' && at + 1 < text.size()) {
    const ClassRun after = run_at(text, at + 1);
    if (after.kind != CodePointClass::space) return text.substr(at, after.end - at);
  }
  const ClassRun run = run_at(text, at);
  // Before a sign, the last of several blanks is not in the run: \s+(?!\S).
  const bool is_cut = run.kind == CodePointClass::space && run.end < text.size() && run.last > at;
  return text.substr(at, (is_cut ? run.last : run.end) - at);
}

}  // namespace fledge
