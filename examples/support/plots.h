// Plots made of characters: a curve in one line, a bar, curves with axes. Each has an ASCII form.
//
// Not here: maps of attention weights (attention_map.h). Key idea: every curve has a mark of its own,
// so that a plot can be read without colours.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "examples/support/terminal.h"

namespace support {

/// One character per value, eight heights between the smallest and the largest; '?' for NaN.
/// Infinities have the smallest and the largest height and do not change the scale.
std::string sparkline(const std::vector<double>& values, bool unicode = unicode_wanted());

/// A bar that fills `fraction` (0 … 1, cut off outside) of `columns`; '?' for NaN.
std::string bar(double fraction, int columns, bool unicode = unicode_wanted());

/// Curves, such as losses over steps.
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

  std::string x_name{};
  std::vector<Curve> curves{};  // a later curve is drawn over an earlier one
  std::vector<Level> levels{};
  std::optional<double> best{};    // an x that is marked on the axis
  bool is_worse_after = false;     // the axis after `best` is shaded
  bool has_log_axis = false;       // of x, which must be at least 1 then
  std::optional<double> top = {};  // larger values are drawn at the upper edge
};

/// The plot, `columns` wide with the labels, `rows` high without the axis and the legend (at least
/// 2). Each column of a curve shows the mean of its points there. Points that are not finite are
/// left out, as are those beyond ±1e15; "" if no point is left. Ends with a line end. Users' text must
/// be printable.
std::string plot_text(const LinePlot& plot, int columns, int rows, bool unicode = unicode_wanted(),
                      Paint paint = {});

}  // namespace support
