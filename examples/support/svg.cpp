#include "examples/support/svg.h"

#include <algorithm>
#include <cmath>

#include "examples/support/text.h"
#include "nn/io/json.h"

namespace support {

namespace {

/// At most two decimals, with a point in every locale.
std::string pixels(double number) { return fledge::json_number(std::round(number * 100) / 100); }

std::string attribute(std::string_view name, std::string_view value) {
  return " " + std::string(name) + "=\"" + markup_escaped(value) + "\"";
}

std::string attribute(std::string_view name, double value) {
  return attribute(name, pixels(value));
}

}  // namespace

void Svg::box(double x, double y, double width, double height, std::string_view colour,
              double opacity) {
  elements_ += "<rect" + attribute("x", x) + attribute("y", y) + attribute("width", width) +
               attribute("height", height) + attribute("fill", colour) +
               (opacity < 1 ? attribute("fill-opacity", opacity) : "") + "/>\n";
}

void Svg::line(double x1, double y1, double x2, double y2, std::string_view colour, double width,
               bool is_dashed) {
  elements_ += "<line" + attribute("x1", x1) + attribute("y1", y1) + attribute("x2", x2) +
               attribute("y2", y2) + attribute("stroke", colour) +
               attribute("stroke-width", width) +
               (is_dashed ? attribute("stroke-dasharray", "4 3") : "") + "/>\n";
}

void Svg::curve(const std::vector<std::pair<double, double>>& points, std::string_view colour,
                double width) {
  std::string path;
  bool is_begun = false;
  for (const auto& [x, y] : points) {
    const bool is_point = std::isfinite(x) && std::isfinite(y);
    if (is_point)
      path += (path.empty() ? "" : " ") + std::string(is_begun ? "L" : "M") + pixels(x) + " " +
              pixels(y);
    is_begun = is_point;
  }
  if (path.empty()) return;
  elements_ += "<path" + attribute("d", path) + attribute("fill", "none") +
               attribute("stroke", colour) + attribute("stroke-width", width) + "/>\n";
}

void Svg::arc(double x1, double x2, double y, std::string_view colour, double width,
              double opacity) {
  const double height = std::abs(x2 - x1) / 2;
  elements_ += "<path" +
               attribute("d", "M" + pixels(x1) + " " + pixels(y) + " C" + pixels(x1) + " " +
                                  pixels(y - height) + " " + pixels(x2) + " " + pixels(y - height) +
                                  " " + pixels(x2) + " " + pixels(y)) +
               attribute("fill", "none") + attribute("stroke", colour) +
               attribute("stroke-width", width) + attribute("stroke-opacity", opacity) + "/>\n";
}

void Svg::circle(double x, double y, double radius, std::string_view colour, double opacity) {
  elements_ += "<circle" + attribute("cx", x) + attribute("cy", y) + attribute("r", radius) +
               attribute("fill", colour) + (opacity < 1 ? attribute("fill-opacity", opacity) : "") +
               "/>\n";
}

void Svg::arrow(double x1, double y1, double x2, double y2, std::string_view colour, double width,
                double opacity) {
  const double length = std::hypot(x2 - x1, y2 - y1), head = std::max(6., 3 * width);
  if (!(length > 0)) return;
  const double dx = (x2 - x1) / length, dy = (y2 - y1) / length;  // along the arrow
  const double bx = x2 - head * dx, by = y2 - head * dy;          // where the head begins
  const auto point = [](double x, double y) { return pixels(x) + " " + pixels(y); };
  const std::string faint = opacity < 1 ? attribute("opacity", opacity) : "";
  elements_ += "<path" + attribute("d", "M" + point(x1, y1) + " L" + point(bx, by)) +
               attribute("stroke", colour) + attribute("stroke-width", width) + faint + "/>\n";
  elements_ +=
      "<path" +
      attribute("d", "M" + point(x2, y2) + " L" + point(bx - head / 2 * dy, by + head / 2 * dx) +
                         " L" + point(bx + head / 2 * dy, by - head / 2 * dx) + " Z") +
      attribute("fill", colour) + faint + "/>\n";
}

void Svg::text(double x, double y, std::string_view words, Anchor anchor, double size,
               std::string_view colour) {
  elements_ += "<text" + attribute("x", x) + attribute("y", y) + attribute("font-size", size) +
               attribute("fill", colour) +
               (anchor == Anchor::start
                    ? ""
                    : attribute("text-anchor", anchor == Anchor::middle ? "middle" : "end")) +
               attribute("xml:space", "preserve") + ">" + markup_escaped(words) + "</text>\n";
}

std::string Svg::file() const {
  return "<svg xmlns=\"http://www.w3.org/2000/svg\"" + attribute("width", width_) +
         attribute("height", height_) + attribute("font-family", "monospace") + ">\n" +
         std::string(mark) + "\n<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n" +
         elements_ + "</svg>\n";
}

const std::vector<std::string>& svg_colours() {
  static const std::vector<std::string> colours{"#0072b2", "#d55e00", "#009e73", "#cc79a7",
                                                "#e69f00", "#56b4e9", "#f0e442", "#000000"};
  return colours;
}

}  // namespace support
