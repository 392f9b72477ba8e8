#include "examples/support/line_plot.h"

#include <algorithm>
#include <cmath>

#include "examples/support/text.h"

namespace support {

namespace {

struct Extent {
  double low = INFINITY, high = -INFINITY;
  void include(double value) {
    low = std::min(low, value);
    high = std::max(high, value);
  }
  bool is_empty() const { return low > high; }
  /// 0 at the low end, 1 at the high end; 0.5 if both are equal.
  double share(double value) const {
    return high > low ? std::clamp((value - low) / (high - low), 0.0, 1.0) : 0.5;
  }
};

/// Larger numbers have no room in labels.
bool can_be_drawn(double x, double y) { return std::abs(x) <= 1e15 && std::abs(y) <= 1e15; }

/// Where the points of a plot lie.
class Axes {
 public:
  explicit Axes(const LinePlot& plot) : plot_(plot) {
    for (const LinePlot::Curve& curve : plot.curves)
      for (const auto& [x, y] : curve.points)
        if (can_be_drawn(x, y)) {
          xs.include(x);
          ys.include(cut_at_top(y));
        }
    if (ys.is_empty()) return;
    for (const LinePlot::Level& level : plot.levels)
      if (std::isfinite(level.value)) ys.include(cut_at_top(level.value));
  }

  /// From 0, left, to 1, right.
  double x_share(double x) const {
    if (!plot_.has_log_axis) return xs.share(x);
    return Extent{scaled(xs.low), scaled(xs.high)}.share(scaled(x));
  }
  /// From 0, above, to 1, below.
  double y_share(double y) const { return 1 - ys.share(cut_at_top(y)); }

  Extent xs, ys;

 private:
  double cut_at_top(double y) const { return plot_.top ? std::min(y, *plot_.top) : y; }
  static double scaled(double x) { return std::log(std::max(x, 1.0)); }

  const LinePlot& plot_;
};

std::size_t index_of(double share, std::size_t count) {
  return static_cast<std::size_t>(std::lround(share * static_cast<double>(count - 1)));
}

/// The text in the colour of a curve; of a level if `curve` is negative.
std::string painted(const Paint& paint, int curve, const std::string& text) {
  if (curve < 0) return paint.dim(text);
  if (curve == 0) return paint.accent(text);
  return curve % 3 == 1 ? paint.good(text) : curve % 3 == 2 ? paint.bad(text) : paint.bold(text);
}

/// A grid of cells.
class Drawing {
 public:
  Drawing(const LinePlot& plot, const Axes& axes, std::size_t width, std::size_t rows, bool unicode,
          Paint paint)
      : plot_(plot),
        axes_(axes),
        width_(width),
        unicode_(unicode),
        paint_(paint),
        cells_(rows, std::vector<Cell>(width)) {
    for (const LinePlot::Level& level : plot.levels)
      if (std::isfinite(level.value)) draw(level);
    for (std::size_t i = 0; i < plot.curves.size(); ++i) draw(plot.curves[i], i);
  }

  std::string row(std::size_t at) const {
    std::string text;
    const std::vector<Cell>& cells = cells_[at];
    for (std::size_t begin = 0, end = 0; begin < cells.size(); begin = end) {
      std::string alike;
      for (; end < cells.size() && cells[end].curve == cells[begin].curve; ++end)
        alike += cells[end].mark;
      text += alike[0] == ' ' ? alike : painted(paint_, cells[begin].curve, alike);
    }
    return text;
  }

 private:
  struct Cell {
    std::string mark = " ";
    int curve = blank;
  };
  static constexpr int blank = -2, of_level = -1;

  void draw(const LinePlot::Level& level) {
    const std::size_t row = index_of(axes_.y_share(level.value), cells_.size());
    for (Cell& cell : cells_[row]) cell = {unicode_ ? "┄" : "-", of_level};
  }

  void draw(const LinePlot::Curve& curve, std::size_t number) {
    std::vector<double> sums(width_), counts(width_);
    for (const auto& [x, y] : curve.points) {
      if (!can_be_drawn(x, y)) continue;
      const std::size_t column = index_of(axes_.x_share(x), width_);
      sums[column] += plot_.top ? std::min(y, *plot_.top) : y;
      ++counts[column];
    }
    const Cell cell{unicode_ ? curve.mark : curve.ascii_mark, static_cast<int>(number)};
    for (std::size_t column = 0; column < width_; ++column)
      if (counts[column] > 0)
        cells_[index_of(axes_.y_share(sums[column] / counts[column]), cells_.size())][column] =
            cell;
  }

  const LinePlot& plot_;
  const Axes& axes_;
  std::size_t width_;
  bool unicode_;
  Paint paint_;
  std::vector<std::vector<Cell>> cells_;
};

std::string whole(double x) { return thousands(std::llround(x)); }

/// The names of the levels in each row.
std::vector<std::string> row_labels(const LinePlot& plot, const Axes& axes, std::size_t rows) {
  std::vector<std::string> labels(rows);
  for (const LinePlot::Level& level : plot.levels) {
    if (!std::isfinite(level.value)) continue;
    std::string& label = labels[index_of(axes.y_share(level.value), rows)];
    label += (label.empty() ? "" : ", ") + level.name + formatted(" %.2f", level.value);
  }
  return labels;
}

}  // namespace

std::string plot_text(const LinePlot& plot, int columns, int rows, bool unicode, Paint paint) {
  const Axes axes(plot);
  if (axes.ys.is_empty()) return "";
  const auto count = static_cast<std::size_t>(std::max(rows, 2));
  const std::vector<std::string> labels = row_labels(plot, axes, count);
  int label_columns = 0;
  for (const std::string& label : labels)
    label_columns = std::max(label_columns, display_width(label));
  label_columns = std::min(label_columns, columns * 2 / 5);
  const std::string high = formatted("%.2f", axes.ys.high), low = formatted("%.2f", axes.ys.low);
  const int left = std::max(display_width(high), display_width(low));
  const auto width = static_cast<std::size_t>(std::max(columns - left - 2 - 1 - label_columns, 10));
  const Drawing drawing(plot, axes, width, count, unicode, paint);
  std::string text;
  for (std::size_t row = 0; row < count; ++row) {
    const std::string number = row == 0 ? high : row + 1 == count ? low : "";
    const std::string edge = unicode ? (number.empty() ? "│" : "┤") : "|";
    std::string line = pad_left(number, left) + " " + edge + drawing.row(row) + " " +
                       cut(labels[row], label_columns, unicode ? "…" : ".");
    text += line.erase(line.find_last_not_of(' ') + 1) + "\n";
  }
  std::vector<std::string> axis(width, unicode ? "─" : "-");
  if (plot.best) {
    const std::size_t best = index_of(axes.x_share(*plot.best), width);
    if (plot.is_worse_after)
      std::fill(axis.begin() + std::ptrdiff_t(best), axis.end(), unicode ? "░" : "#");
    axis[best] = unicode ? "▲" : "^";
  }
  text += pad_left("", left) + " " + (unicode ? "└" : "+");
  for (const std::string& cell : axis) text += cell;
  const std::string first = whole(axes.xs.low), last = whole(axes.xs.high) + " " + plot.x_name;
  text += "\n" + pad_left("", left + 2) + first +
          pad_left(last, static_cast<int>(width) - display_width(first)) + "\n";
  std::string legend;
  for (std::size_t i = 0; i < plot.curves.size(); ++i) {
    const LinePlot::Curve& curve = plot.curves[i];
    legend += (legend.empty() ? "" : "   ") +
              painted(paint, static_cast<int>(i), unicode ? curve.mark : curve.ascii_mark) + " " +
              curve.name;
  }
  if (plot.best)
    legend += std::string(unicode ? "   ▲" : "   ^") + " best at " + whole(*plot.best) +
              (plot.is_worse_after ? ", then worse" : "");
  return text + wrapped(pad_left("", left + 2) + legend, columns, left + 2) + "\n";
}

Svg plot_picture(const LinePlot& plot) {
  constexpr double wide = 720, left = 60, right = 520, above = 20, below = 340;
  const double rows_of_legend = static_cast<double>(plot.curves.size());  // at most
  Svg picture(wide, below + 48 + 16 * rows_of_legend);
  const Axes axes(plot);
  if (axes.ys.is_empty()) return picture;
  const auto x_of = [&](double x) { return left + axes.x_share(x) * (right - left); };
  const auto y_of = [&](double y) { return above + axes.y_share(y) * (below - above); };
  if (plot.best && plot.is_worse_after)
    picture.box(x_of(*plot.best), above, right - x_of(*plot.best), below - above, "#d55e00", 0.1);
  picture.line(left, below, right, below, "black");
  picture.line(left, above, left, below, "black");
  for (int tick = 0; tick <= 4; ++tick) {
    const double y = axes.ys.low + (axes.ys.high - axes.ys.low) * tick / 4;
    picture.text(left - 6, y_of(y) + 4, formatted("%.2f", y), Svg::Anchor::end);
  }
  picture.text(left, below + 18, whole(axes.xs.low));
  picture.text(right, below + 18, whole(axes.xs.high) + " " + plot.x_name, Svg::Anchor::end);
  double label = above - 14;  // labels stand below each other
  std::vector<LinePlot::Level> levels = plot.levels;
  std::sort(levels.begin(), levels.end(),
            [](const auto& a, const auto& b) { return a.value > b.value; });
  for (const LinePlot::Level& level : levels) {
    if (!std::isfinite(level.value)) continue;
    const double y = y_of(level.value);
    label = std::max(y + 4, label + 14);
    picture.line(left, y, right, y, "gray", 1, true);
    picture.text(right + 8, label, level.name + formatted(" %.2f", level.value));
  }
  double legend_x = left, legend_y = below + 36;
  for (std::size_t i = 0; i < plot.curves.size(); ++i) {
    const std::string& colour = svg_colours()[i % svg_colours().size()];
    std::vector<std::pair<double, double>> points;
    for (const auto& [x, y] : plot.curves[i].points)
      points.emplace_back(x_of(x), can_be_drawn(x, y) ? y_of(y) : NAN);
    picture.curve(points, colour, i == 0 && plot.curves.size() > 1 ? 1 : 2);
    const std::string& name = plot.curves[i].name;
    const double width = 7.5 * (display_width(name) + 3);
    if (legend_x > left && legend_x + width > wide) {
      legend_x = left;
      legend_y += 16;
    }
    picture.text(legend_x, legend_y, name, Svg::Anchor::start, 12, colour);
    legend_x += width;
  }
  if (plot.best) {
    picture.line(x_of(*plot.best), above, x_of(*plot.best), below, "black", 1, true);
    picture.text(x_of(*plot.best), below + 18, "best " + whole(*plot.best), Svg::Anchor::middle);
  }
  return picture;
}

}  // namespace support
