// A picture as SVG text (Scalable Vector Graphics, W3C 1.1): boxes, lines, curves, words.
//
// Not here: what is drawn. Key idea: the picture is a list of elements. Text is escaped, so a user's
// text cannot become a tag. The same calls give the same bytes.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace support {

class Svg {
 public:
  enum class Anchor { start, middle, end };

  /// A white picture of this many pixels.
  Svg(double width, double height) : width_(width), height_(height) {}

  /// A filled rectangle. Colours are "#0072b2" or names; opacity is from 0 to 1.
  void box(double x, double y, double width, double height, std::string_view colour,
           double opacity = 1);
  void line(double x1, double y1, double x2, double y2, std::string_view colour, double width = 1,
            bool is_dashed = false);
  /// Lines from point to point. Points that are not finite break the curve.
  void curve(const std::vector<std::pair<double, double>>& points, std::string_view colour,
             double width = 2);
  /// An arc above the line y from x1 to x2.
  void arc(double x1, double x2, double y, std::string_view colour, double width, double opacity);
  /// A filled circle around (x, y).
  void circle(double x, double y, double radius, std::string_view colour, double opacity = 1);
  /// A line with a head at its end (x2, y2). The head is three times as wide as the line, and at
  /// least 6 pixels.
  void arrow(double x1, double y1, double x2, double y2, std::string_view colour, double width = 1,
             double opacity = 1);
  /// A line of text whose base line is at y. Bytes that are not printable are escaped.
  void text(double x, double y, std::string_view words, Anchor anchor = Anchor::start,
            double size = 12, std::string_view colour = "black");

  /// The whole file. Its second line is the comment `mark`.
  static constexpr std::string_view mark = "<!-- made by fledge -->";
  std::string file() const;

 private:
  double width_, height_;
  std::string elements_;
};

/// Okabe & Ito 2008: eight colours that colour-blind people can tell apart; the first is blue.
const std::vector<std::string>& svg_colours();

}  // namespace support
