// Weights as shades of characters: a map of which word looks at which, and a text whose parts have
// shades. Both have an ASCII form.
//
// Key idea: beside a map, a sentence with digits repeats the largest weight of each row.
#pragma once

#include <string>
#include <vector>

#include "examples/support/terminal.h"

namespace support {

struct MapStyle {
  bool causal = true;  // row i has weights for columns 0 … i; the other cells stay blank
  bool unicode = unicode_wanted();
  int columns = 80;  // the width of the terminal
  Paint paint = {};  // marks the largest weight of a row
  /// Of more words than this, or than fit beside each other, the first have no rows, and one column has
  /// the sum of their weights. 0: every word has a row.
  int most_words = 0;
};
/// How many words have no row.
std::size_t hidden_words(const std::vector<std::string>& words, const MapStyle& style);

/// The character that shows a weight from 0 to 1: one of · ░ ▒ ▓ █, or one of .:-=+*#%@; '?' for NaN.
std::string shade(double weight, bool unicode = unicode_wanted());
/// What the characters of shade() mean, in one line.
std::string shade_scale(bool unicode = unicode_wanted());

/// A map of the attention weights of n words, (n, n) row-major: row i shows where word i looks. The
/// sentence beside each row names its largest weight, and the weight if all were equal (even split):
///
///              you   see   birds   rows look at columns
///       you    ██                  you looks at you 1.00 (even split 1.00)
///       see    ▓▓    ░░            see looks at you 0.71 (even split 0.50)
///
/// When a line is too narrow for both, the sentences go below the grid. When the grid alone is too
/// wide, only the sentences are printed. Throws std::invalid_argument unless there are n² weights.
std::string attention_map(const std::vector<std::string>& words, const std::vector<double>& weights,
                          const MapStyle& style = {});

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
