#include "examples/fledge/inspect/token_plane.h"

#include <algorithm>
#include <cmath>

#include "examples/support/text.h"

namespace fledge {

namespace {

/// From 0 at the smallest to 1 at the largest; 0.5 if all are equal.
std::vector<double> scaled(const std::vector<double>& numbers) {
  if (numbers.empty()) return {};
  const auto [low, high] = std::minmax_element(numbers.begin(), numbers.end());
  std::vector<double> shares;
  for (const double number : numbers)
    shares.push_back(*high > *low ? (number - *low) / (*high - *low) : 0.5);
  return shares;
}

struct PlacedLabel {
  int column, width;
  std::string text;
};

}  // namespace

std::string token_map_text(const TokenMap& map, const std::vector<std::string>& labels, int columns,
                           int rows, bool unicode) {
  const std::vector<double> x = scaled(map.x), y = scaled(map.y);
  std::vector<std::vector<PlacedLabel>> lines(static_cast<std::size_t>(rows));
  std::size_t shown = 0;
  for (std::size_t i = 0; i < labels.size(); ++i) {
    const std::string label = support::cut(labels[i], 16, unicode ? "…" : ".");
    const int width = support::display_width(label);
    const int column = static_cast<int>(std::lround(x[i] * (columns - width)));
    auto& line = lines[static_cast<std::size_t>(std::lround((1 - y[i]) * (rows - 1)))];
    const bool is_free = std::all_of(line.begin(), line.end(), [&](const PlacedLabel& other) {
      return column + width < other.column || other.column + other.width < column;
    });
    if (!is_free) continue;
    line.push_back({column, width, label});
    ++shown;
  }
  std::string text;
  for (std::vector<PlacedLabel>& line : lines) {
    std::sort(line.begin(), line.end(),
              [](const PlacedLabel& a, const PlacedLabel& b) { return a.column < b.column; });
    std::string row;
    for (const PlacedLabel& label : line) row = support::pad_right(row, label.column) + label.text;
    text += row + "\n";
  }
  return text +
         support::wrapped(std::to_string(shown) + " of " +
                              support::counted(std::ssize(labels), "token") + " shown" +
                              (shown < labels.size() ? "; the others would cover them" : ""),
                          columns) +
         "\n";
}

support::Svg token_map_picture(const TokenMap& map, const std::vector<std::string>& labels) {
  support::Svg picture(800, 600);
  const std::vector<double> x = scaled(map.x), y = scaled(map.y);
  for (std::size_t i = 0; i < labels.size(); ++i)
    picture.text(60 + 680 * x[i], 30 + 540 * (1 - y[i]), labels[i], support::Svg::Anchor::middle);
  return picture;
}

}  // namespace fledge
