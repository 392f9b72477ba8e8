#include "examples/support/plots.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>

namespace support {

namespace {

using Glyphs = std::array<const char*, 8>;
constexpr Glyphs heights{"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
constexpr Glyphs ascii_heights{".", ":", "-", "=", "+", "*", "#", "@"};
constexpr Glyphs eighths{"", "▏", "▎", "▍", "▌", "▋", "▊", "▉"};

std::string repeated(std::string_view glyph, int count) {
  std::string text;
  for (int i = 0; i < count; ++i) text += glyph;
  return text;
}

}  // namespace

std::string sparkline(const std::vector<double>& values, bool unicode) {
  double low = INFINITY, high = -INFINITY;
  for (const double value : values) {
    if (!std::isfinite(value)) continue;
    low = std::min(low, value);
    high = std::max(high, value);
  }
  const Glyphs& glyphs = unicode ? heights : ascii_heights;
  const double span = high / 2 - low / 2;  // halves: high − low may be more than a double holds
  std::string line;
  for (const double value : values) {
    if (std::isnan(value)) {
      line += '?';
      continue;
    }
    double height = value < low ? 0 : value > high ? 1 : 0.5;
    if (std::isfinite(value) && span > 0) height = (value / 2 - low / 2) / span;
    line += glyphs[static_cast<std::size_t>(std::min(7.0, std::floor(height * 8)))];
  }
  return line;
}

std::string bar(double fraction, int columns, bool unicode) {
  if (columns <= 0) return "";
  if (std::isnan(fraction)) return pad_right("?", columns);
  const double filled = std::clamp(fraction, 0.0, 1.0) * columns;
  if (!unicode) {
    const int whole = static_cast<int>(std::lround(filled));
    return repeated("#", whole) + repeated("-", columns - whole);
  }
  const int parts = static_cast<int>(std::lround(filled * 8));
  const std::string text = repeated("█", parts / 8) + eighths[static_cast<std::size_t>(parts % 8)];
  return pad_right(text, columns);
}

}  // namespace support
