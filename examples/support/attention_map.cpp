#include "examples/support/attention_map.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <stdexcept>

#include "examples/support/text.h"

namespace support {

namespace {

constexpr int widest_word = 6;
constexpr std::array<const char*, 5> shades{"·", "░", "▒", "▓", "█"};
constexpr std::array<double, 4> shade_limits{0.05, 0.25, 0.5, 0.75};
constexpr std::string_view ascii_shades = ".:-=+*#%@";

std::string cell(double weight, const MapStyle& style) {
  const std::string drawn = shade(weight, style.unicode);
  const bool is_single = drawn == "?" || drawn == shades[0];
  return is_single ? drawn : drawn + drawn;
}

/// The words and their weights row by row. Labels and cells have the same width.
class Map {
 public:
  Map(const std::vector<std::string>& words, const std::vector<double>& weights,
      const MapStyle& style)
      : weights_(weights), style_(style), count_(words.size()), first_(style.earlier > 0 ? 1 : 0) {
    for (const std::string& word : words) {
      const bool blank = word.find_first_not_of(' ') == std::string::npos;
      names_.push_back(cut(blank ? quoted(word) : printable(word), 20, ellipsis()));
      width_ = std::max(width_, std::min(widest_word, display_width(names_.back())));
    }
  }

  std::string text() const {
    const int grid_width = width_ + static_cast<int>(count_) * (width_ + 1);
    int longest = 0;
    std::string sentences;
    for (std::size_t row = first_; row < count_; ++row) {
      sentences += wrapped(sentence(row), style_.columns, 2) + "\n";
      longest = std::max(longest, display_width(sentence(row)));
    }
    if (grid_width > style_.columns) return sentences;
    const bool beside = grid_width + 3 + longest <= style_.columns;
    const auto line = [&](std::string grid, const std::string& right) {
      if (beside) return pad_right(grid, grid_width) + "   " + right + "\n";
      return grid.erase(grid.find_last_not_of(' ') + 1) + "\n";
    };
    std::string lines = line(header(), style_.paint.dim("rows look at columns"));
    for (std::size_t row = first_; row < count_; ++row) lines += line(cells(row), sentence(row));
    lines += style_.paint.dim(wrapped(shade_scale(style_.unicode), style_.columns)) + "\n";
    return beside ? lines : lines + sentences;
  }

 private:
  std::string_view ellipsis() const { return style_.unicode ? "…" : "."; }
  double weight(std::size_t row, std::size_t column) const {
    return weights_[row * count_ + column];
  }
  std::size_t seen(std::size_t row) const { return style_.causal ? row + 1 : count_; }
  std::string label(std::size_t word) const {
    return pad_right(cut(names_[word], width_, ellipsis()), width_);
  }

  std::string header() const {
    std::string text(static_cast<std::size_t>(width_), ' ');
    for (std::size_t word = 0; word < count_; ++word) text += " " + label(word);
    return text;
  }

  /// The column of the row's largest weight, the first of equal ones; the first NaN if there is
  /// one.
  std::size_t largest(std::size_t row) const {
    std::size_t best = first_;
    for (std::size_t column = first_; column < seen(row); ++column) {
      if (std::isnan(weight(row, column))) return column;
      if (weight(row, column) > weight(row, best)) best = column;
    }
    return best;
  }

  std::string cells(std::size_t row) const {
    const std::size_t marked = largest(row);
    std::string text = label(row);
    for (std::size_t column = 0; column < seen(row); ++column) {
      const std::string drawn = cell(weight(row, column), style_);
      text += " " + pad_right(column == marked ? style_.paint.accent(drawn) : drawn, width_);
    }
    return text;
  }

  std::string sentence(std::size_t row) const {
    const std::size_t column = largest(row);
    const double most = weight(row, column);
    if (std::isnan(most)) return names_[row] + " looks at what is not a number";
    const double words = static_cast<double>(seen(row) - first_) + style_.earlier;
    const std::string rest =
        style_.earlier > 0 ? formatted("; at all earlier ones %.2f", weight(row, 0)) : "";
    if (most <= 0) return names_[row] + " looks nowhere" + (rest.empty() ? "" : " here") + rest;
    return names_[row] + " looks at " + names_[column] +
           formatted(most < 10 ? " %.2f" : " %.0e", most) +
           formatted(" (even split %.2f)", 1 / words) + rest;
  }

  const std::vector<double>& weights_;
  const MapStyle& style_;
  std::size_t count_, first_;  // words, and the first that has a row
  std::vector<std::string> names_;
  int width_ = 2;
};

}  // namespace

std::string shade(double weight, bool unicode) {
  if (std::isnan(weight)) return "?";
  if (unicode) {
    const auto above = std::upper_bound(shade_limits.begin(), shade_limits.end(), weight);
    return shades[static_cast<std::size_t>(above - shade_limits.begin())];
  }
  const double levels = static_cast<double>(ascii_shades.size());
  const double level = std::clamp(std::floor(weight * levels), 0.0, levels - 1);
  return std::string(1, ascii_shades[static_cast<std::size_t>(level)]);
}

std::string shade_scale(bool unicode) {
  return std::string("scale  ") + (unicode ? "·<.05  ░<.25  ▒<.5  ▓<.75  █≥.75" : "0 .:-=+*#%@ 1");
}

std::string attention_map(const std::vector<std::string>& words, const std::vector<double>& weights,
                          const MapStyle& style) {
  if (weights.size() != words.size() * words.size())
    throw std::invalid_argument(
        "attention_map: one weight for each pair of words: " + std::to_string(words.size()) +
        " words and " + std::to_string(weights.size()) + " weights");
  return words.empty() ? "" : Map(words, weights, style).text();
}

}  // namespace support
