#include "examples/support/line_plot.h"

#include <algorithm>
#include <cmath>

#include "examples/support/text.h"

namespace support {

Svg plot_picture(const LinePlot& plot) {
  const auto whole = [](double x) { return thousands(std::llround(x)); };
  constexpr double wide = 720, left = 60, right = 520, above = 20, below = 340;
  const double rows_of_legend = static_cast<double>(plot.curves.size());  // at most
  Svg picture(wide, below + 48 + 16 * rows_of_legend);
  const PlotAxes axes(plot);
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
      points.emplace_back(x_of(x), PlotAxes::can_be_drawn(x, y) ? y_of(y) : NAN);
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
