// Drawn with characters: a curve in one line, a bar, curves with axes, a map of which word looks at
// which. Each has an ASCII form.
//
// Every curve has a mark of its own, so that a plot can be read without colours; beside a map, a
// sentence with digits repeats the largest weight of each row.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "examples/support/text.h"

namespace support {

/// One character per value, eight heights between the smallest and the largest, those of `scale`
/// included; '?' for NaN. Infinities have the smallest and the largest height and do not change it.
std::string sparkline(const std::vector<double>& values, const std::vector<double>& scale = {},
                      bool unicode = unicode_wanted());

/// A bar that fills `fraction` (0 … 1, cut off outside) of `columns`; '?' for NaN.
std::string bar(double fraction, int columns, bool unicode = unicode_wanted());

/// Curves over steps, such as losses.
struct LinePlot {
  struct Curve {
    std::string name;              // in the legend
    std::string mark, ascii_mark;  // of one column
    std::vector<std::pair<double, double>> points;
  };
  /// A horizontal line with a label.
  struct Level {
    std::string name;
    double value;
  };

  std::vector<Curve> curves{};  // a later curve is drawn over an earlier one
  std::vector<Level> levels{};
  std::optional<double> best{};    // an x that is marked on the axis
  bool is_worse_after = false;     // the axis after `best` is shaded
  std::optional<double> top = {};  // larger values are drawn at the upper edge
};

/// The plot, `columns` wide with the labels, `rows` high without the axis and the legend (at least
/// 2). Each column of a curve shows the mean of its points there. Points that are not finite are
/// left out, as are those beyond ±1e15; "" if no point is left. Ends with a line end. Users' text must
/// be printable.
std::string plot_text(const LinePlot& plot, int columns, int rows, bool unicode = unicode_wanted(),
                      Paint paint = {});

struct MapStyle {
  bool causal = true;  // row i has weights for columns 0 … i; the other cells stay blank
  bool unicode = unicode_wanted();
  int columns = 80;        // the width of the terminal
  Paint paint = {};        // marks the largest weight of a row
  std::size_t window = 0;  // each row has weights for this many columns alone; 0: for all
};

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

}  // namespace support
