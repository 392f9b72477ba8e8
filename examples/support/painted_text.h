// A text whose parts have shades: with colours a darker ground, without colours a line of shades
// below each line.
#pragma once

#include <string>
#include <vector>

#include "examples/support/terminal.h"

namespace support {

/// A part of the text and its shade: 0 … 1; below 0.05 and for NaN it has none. A blank before the
/// first letter of a part has none either.
struct ShadedPart {
  std::string text;
  double share;
};

/// The text in lines of at most `columns` columns, broken between words; a word that is wider than a
/// line is broken inside. A line break in the text is shown as "⏎" (ASCII: "\n") and ends the line.
std::string painted_text(const std::vector<ShadedPart>& parts, int columns, Paint paint,
                         bool unicode = unicode_wanted());

}  // namespace support
