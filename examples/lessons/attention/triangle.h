// The triangle of rows: each row of three attention weights is a point of a picture.
//
// Not here: where the rows come from. Key idea: weights (a1, a2, a3) that add up to 1 are the point
// a1·P1 + a2·P2 + a3·P3, where P1, P2 and P3 are the corners. Along an edge v3'.v1 changes evenly,
// so the rows with one v3'.v1 are a straight line. Used by the lessons 02, 07 and 08.
#pragma once

#include <array>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "examples/support/svg.h"
#include "examples/support/text.h"

namespace fledge {

class Triangle {
 public:
  using Svg = support::Svg;
  using Row = std::array<double, 3>;  // the weights on 'birds', 'sometimes' and 'walk'

  /// Draws the edges into `svg`, and the words at the corners: 'birds' at the top, 'sometimes' at
  /// the left, 'walk' at the right. (left, bottom) is the corner at the left.
  Triangle(Svg& svg, double left, double bottom, double side)
      : svg_(svg), left_(left), bottom_(bottom), side_(side) {
    line({1, 0, 0}, {0, 1, 0}, "black");
    line({0, 1, 0}, {0, 0, 1}, "black");
    line({0, 0, 1}, {1, 0, 0}, "black");
    label({1, 0, 0}, -18, "all weight on 'birds': ", products[0]);
    label({0, 1, 0}, 20, "all on 'sometimes': ", products[1]);
    label({0, 0, 1}, 20, "all on 'walk': ", products[2]);
  }

  std::pair<double, double> point(const Row& a) const {
    return {left_ + side_ * (a[2] + a[0] / 2), bottom_ - side_ * std::sqrt(0.75) * a[0]};
  }

  /// A dashed line through all rows with v3'.v1 = level, and the level at its right end.
  void contour(double level) {
    const Row right = on_edge(0, 2, level);
    line(level > products[1] ? on_edge(0, 1, level) : on_edge(1, 2, level), right, "#888888", true);
    svg_.text(point(right).first + 6, point(right).second + 4, support::formatted("%.2f", level),
              Svg::Anchor::start, 11, "#666666");
  }

  /// A circle, with words at its left or right.
  void dot(const Row& a, const std::string& colour, const std::string& words = "",
           Svg::Anchor anchor = Svg::Anchor::end) {
    const auto [x, y] = point(a);
    svg_.circle(x, y, 5, colour);
    svg_.text(anchor == Svg::Anchor::end ? x - 9 : x + 9, y + (anchor == Svg::Anchor::end ? -3 : 4),
              words, anchor, 12, colour);
  }

  /// A curve from row to row.
  void path(const std::vector<Row>& rows, const std::string& colour, double width = 2) {
    std::vector<std::pair<double, double>> points;
    for (const Row& a : rows) points.push_back(point(a));
    svg_.curve(points, colour, width);
  }

 private:
  /// v1.v1, v2.v1 and v3.v1 of the worked example, which are v3'.v1 at the corners.
  static constexpr Row products{0.14, -0.05, -0.09};

  /// The row on the edge from corner i to corner j with this v3'.v1.
  static Row on_edge(std::size_t i, std::size_t j, double level) {
    Row a{};
    a[j] = (level - products[i]) / (products[j] - products[i]);
    a[i] = 1 - a[j];
    return a;
  }
  void line(const Row& a, const Row& b, const char* colour, bool is_dashed = false) {
    svg_.line(point(a).first, point(a).second, point(b).first, point(b).second, colour, 1,
              is_dashed);
  }
  void label(const Row& corner, double below, const char* words, double product) {
    svg_.text(point(corner).first, point(corner).second + below,
              words + support::formatted("%.2f", product), Svg::Anchor::middle);
  }

  Svg& svg_;
  double left_, bottom_, side_;
};

}  // namespace fledge
