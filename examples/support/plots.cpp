#include "examples/support/plots.h"

#include <algorithm>
#include <array>
#include <cmath>

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

std::size_t index_of(double share, std::size_t count) {
  return static_cast<std::size_t>(std::lround(share * static_cast<double>(count - 1)));
}

struct Extent {
  double low = INFINITY, high = -INFINITY;
  void include(double value) {
    low = std::min(low, value);
    high = std::max(high, value);
  }
  /// 0 at the low end, 1 at the high end; 0.5 if both are equal.
  double share(double value) const {
    return high > low ? std::clamp((value - low) / (high - low), 0.0, 1.0) : 0.5;
  }
};

/// Where the points of a plot lie.
class PlotAxes {
 public:
  explicit PlotAxes(const LinePlot& plot) : plot_(plot) {
    for (const LinePlot::Curve& curve : plot.curves)
      for (const auto& [x, y] : curve.points)
        if (can_be_drawn(x, y)) {
          xs.include(x);
          ys.include(cut_at_top(y));
        }
    if (is_empty()) return;
    for (const LinePlot::Level& level : plot.levels)
      if (std::isfinite(level.value)) ys.include(cut_at_top(level.value));
  }

  bool is_empty() const { return ys.low > ys.high; }
  /// From 0, left, to 1, right.
  double x_share(double x) const {
    if (!plot_.has_log_axis) return xs.share(x);
    const auto scaled = [](double value) { return std::log(std::max(value, 1.0)); };
    return Extent{scaled(xs.low), scaled(xs.high)}.share(scaled(x));
  }
  /// From 0, above, to 1, below.
  double y_share(double y) const { return 1 - ys.share(cut_at_top(y)); }
  double cut_at_top(double y) const { return plot_.top ? std::min(y, *plot_.top) : y; }
  /// Larger numbers have no room in labels.
  static bool can_be_drawn(double x, double y) {
    return std::abs(x) <= 1e15 && std::abs(y) <= 1e15;
  }

  Extent xs, ys;

 private:
  const LinePlot& plot_;
};

constexpr int blank = -2, of_level = -1;

struct PlotCell {
  std::string mark = " ";
  int curve = blank;
};
using PlotCells = std::vector<std::vector<PlotCell>>;

/// The text in the colour of a curve; of a level if `curve` is negative.
std::string painted(const Paint& paint, int curve, const std::string& text) {
  if (curve < 0) return curve == blank ? text : paint.dim(text);
  if (curve == 0) return paint.accent(text);
  return curve % 3 == 1 ? paint.good(text) : curve % 3 == 2 ? paint.bad(text) : paint.bold(text);
}

void draw(const LinePlot::Curve& curve, const PlotCell& cell, const PlotAxes& axes,
          PlotCells& cells) {
  const std::size_t width = cells[0].size();
  std::vector<double> sums(width), counts(width);
  for (const auto& [x, y] : curve.points) {
    if (!PlotAxes::can_be_drawn(x, y)) continue;
    const std::size_t column = index_of(axes.x_share(x), width);
    sums[column] += axes.cut_at_top(y);
    ++counts[column];
  }
  for (std::size_t column = 0; column < width; ++column)
    if (counts[column] > 0)
      cells[index_of(axes.y_share(sums[column] / counts[column]), cells.size())][column] = cell;
}

std::string row_text(const std::vector<PlotCell>& cells, const Paint& paint) {
  std::string text;
  for (std::size_t begin = 0, end = 0; begin < cells.size(); begin = end) {
    std::string alike;
    for (; end < cells.size() && cells[end].curve == cells[begin].curve; ++end)
      alike += cells[end].mark;
    text += painted(paint, cells[begin].curve, alike);
  }
  return text;
}

std::string whole(double x) { return thousands(std::llround(x)); }

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

std::string plot_text(const LinePlot& plot, int columns, int rows, bool unicode, Paint paint) {
  const PlotAxes axes(plot);
  if (axes.is_empty()) return "";
  const auto count = static_cast<std::size_t>(std::max(rows, 2));
  std::vector<std::string> labels(count);  // the names of the levels
  int label_columns = 0;
  for (const auto& [name, value] : plot.levels) {
    if (!std::isfinite(value)) continue;
    std::string& label = labels[index_of(axes.y_share(value), count)];
    label += (label.empty() ? "" : ", ") + name + formatted(" %.2f", value);
    label_columns = std::max(label_columns, display_width(label));
  }
  label_columns = std::min(label_columns, columns * 2 / 5);
  const std::string high = formatted("%.2f", axes.ys.high), low = formatted("%.2f", axes.ys.low);
  const int left = std::max(display_width(high), display_width(low));
  const auto width = static_cast<std::size_t>(std::max(columns - left - 2 - 1 - label_columns, 10));

  PlotCells cells(count, std::vector<PlotCell>(width));
  for (std::size_t row = 0; row < count; ++row)
    if (!labels[row].empty()) cells[row].assign(width, {unicode ? "┄" : "-", of_level});
  std::string legend;
  for (std::size_t i = 0; i < plot.curves.size(); ++i) {
    const LinePlot::Curve& curve = plot.curves[i];
    const PlotCell cell{unicode ? curve.mark : curve.ascii_mark, static_cast<int>(i)};
    draw(curve, cell, axes, cells);
    legend +=
        (legend.empty() ? "" : "   ") + painted(paint, cell.curve, cell.mark) + " " + curve.name;
  }
  std::string text;
  for (std::size_t row = 0; row < count; ++row) {
    const std::string number = row == 0 ? high : row + 1 == count ? low : "";
    const std::string edge = unicode ? (number.empty() ? "│" : "┤") : "|";
    std::string line = pad_left(number, left) + " " + edge + row_text(cells[row], paint) + " " +
                       cut(labels[row], label_columns, unicode ? "…" : ".");
    text += line.erase(line.find_last_not_of(' ') + 1) + "\n";
  }
  std::vector<std::string> axis(width, unicode ? "─" : "-");
  if (plot.best) {
    const std::size_t best = index_of(axes.x_share(*plot.best), width);
    if (plot.is_worse_after)
      std::fill(axis.begin() + std::ptrdiff_t(best), axis.end(), unicode ? "░" : "#");
    axis[best] = unicode ? "▲" : "^";
    legend += "   " + axis[best] + " best at " + whole(*plot.best) +
              (plot.is_worse_after ? ", then worse" : "");
  }
  text += pad_left("", left) + " " + (unicode ? "└" : "+");
  for (const std::string& cell : axis) text += cell;
  const std::string first = whole(axes.xs.low), last = whole(axes.xs.high) + " " + plot.x_name;
  text += "\n" + pad_left("", left + 2) + first +
          pad_left(last, static_cast<int>(width) - display_width(first)) + "\n";
  return text + wrapped(pad_left("", left + 2) + legend, columns, left + 2) + "\n";
}

}  // namespace support
