// A plot of curves, such as losses over steps: in characters for a terminal, or as SVG.
//
// Not here: what the curves mean. Key idea: both forms draw the same numbers. In characters every
// curve has a mark of its own, so that the plot can be read without colours.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "examples/support/svg.h"
#include "examples/support/terminal.h"

namespace support {

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
/// left out, as are those beyond ±1e15; "" if no point is left. Ends with a line end. Users' text must be printable.
std::string plot_text(const LinePlot& plot, int columns, int rows, bool unicode = unicode_wanted(),
                      Paint paint = {});

/// The same plot as a picture, 720 pixels wide.
Svg plot_picture(const LinePlot& plot);

}  // namespace support
