// Pictures made of characters: who looks at whom, a curve in one line, a bar.
//
// Not here: widths of terminals and wishes about colour, which the caller passes in. Key idea:
// every picture has an ASCII form, and every shade is also said in words and digits.
#pragma once

#include <string>
#include <vector>

#include "examples/support/terminal.h"

namespace support {

struct MapStyle {
  bool causal = true;    // a row sees itself and what came before; the rest stays blank
  bool numbers = false;  // digits instead of shades
  bool unicode = unicode_wanted();
  int columns = 80;  // where the sentences, or the whole grid, no longer fit beside each other
  Paint paint = {};  // marks the largest weight of a row
  int earlier = 0;  // so many words stand before the others: they share column 0, which has the sum
                    // of their weights, and have no row. 0: there is no such column
};

/// Attention of n words, weights (n, n) row-major: rows look at columns. Beside each row stands a
/// sentence with its largest weight and what an even spread would give:
///
///              you   see   birds   rows look at columns
///       you    ██                  you looks at you 1.00 (chance 1.00)
///       see    ▓▓    ░░            see looks at you 0.71 (chance 0.50)
///
/// The sentences go below the grid when the line is too narrow, and stand alone when even the grid
/// does not fit. Throws std::invalid_argument when there are not n² weights.
std::string attention_map(const std::vector<std::string>& words, const std::vector<double>& weights,
                          const MapStyle& style = {});

/// One character per value, eight heights between the smallest and the largest; '?' for NaN.
/// Infinities stand at the ends and do not stretch the scale.
std::string sparkline(const std::vector<double>& values, bool unicode = unicode_wanted());

/// A bar that fills `fraction` (0 … 1, cut off outside) of `columns`; '?' for NaN.
std::string bar(double fraction, int columns, bool unicode = unicode_wanted());

}  // namespace support
