#include "examples/support/attention_map.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <stdexcept>

#include "examples/support/text.h"

namespace support {

namespace {

constexpr int widest_word = 6;
constexpr std::array<const char*, 5> shades{"·", "░░", "▒▒", "▓▓", "██"};
constexpr std::array<double, 4> shade_limits{0.05, 0.25, 0.5, 0.75};
constexpr std::string_view ascii_shades = ".:-=+*#%@";
constexpr const char* shade_scale = "·<.05  ░<.25  ▒<.5  ▓<.75  █≥.75";
constexpr const char* ascii_scale = "0 .:-=+*#%@ 1";

/// ".58", "1.0", "-.09"; "2e+05" for a number that cannot be a weight.
std::string short_number(double weight) {
  if (std::isnan(weight)) return "?";
  if (std::abs(weight) >= 9.95) return formatted("%.0e", weight);
  const std::string text = formatted("%.2f", weight);
  const std::size_t zero = text.find("0.");
  if (zero == std::string::npos) return formatted("%.1f", weight);
  return text == "-0.00" ? ".00" : text.substr(0, zero) + text.substr(zero + 1);
}

std::string cell(double weight, const MapStyle& style) {
  if (style.numbers) return short_number(weight);
  if (std::isnan(weight)) return "?";
  if (style.unicode) {
    const auto above = std::upper_bound(shade_limits.begin(), shade_limits.end(), weight);
    return shades[static_cast<std::size_t>(above - shade_limits.begin())];
  }
  const double levels = static_cast<double>(ascii_shades.size());
  const double level = std::clamp(std::floor(weight * levels), 0.0, levels - 1);
  return std::string(2, ascii_shades[static_cast<std::size_t>(level)]);
}

/// The words, their weights row by row, and the widths of the columns.
class Map {
 public:
  Map(const std::vector<std::string>& words, const std::vector<double>& weights,
      const MapStyle& style)
      : weights_(weights), style_(style), count_(words.size()), first_(style.earlier > 0 ? 1 : 0) {
    for (const std::string& word : words) {
      const bool blank = word.find_first_not_of(' ') == std::string::npos;
      names_.push_back(cut(blank ? quoted(word) : printable(word), 20, ellipsis()));
      cell_width_ = std::max(cell_width_, std::min(widest_word, display_width(names_.back())));
    }
    label_width_ = cell_width_;
    if (!style.numbers) return;
    for (std::size_t row = first_; row < count_; ++row)
      for (std::size_t column = 0; column < seen(row); ++column)
        cell_width_ = std::max(cell_width_, display_width(cell(weight(row, column), style)));
  }

  std::string text() const {
    int longest = 0;
    for (std::size_t row = first_; row < count_; ++row)
      longest = std::max(longest, display_width(sentence(row)));
    const int width = label_width_ + static_cast<int>(count_) * (cell_width_ + 1);
    const bool beside = width + 3 + longest <= style_.columns;
    std::string lines;
    if (width <= style_.columns) {
      lines += line("", header(), beside ? style_.paint.dim("rows look at columns") : "");
      for (std::size_t row = first_; row < count_; ++row)
        lines += line(label(row), cells(row), beside ? sentence(row) : "");
      if (!style_.numbers)
        lines += style_.paint.dim(std::string("scale  ") +
                                  (style_.unicode ? shade_scale : ascii_scale)) +
                 "\n";
    }
    if (!beside)
      for (std::size_t row = first_; row < count_; ++row) lines += sentence(row) + "\n";
    return lines;
  }

 private:
  std::string_view ellipsis() const { return style_.unicode ? "…" : "."; }
  double weight(std::size_t row, std::size_t column) const {
    return weights_[row * count_ + column];
  }
  std::size_t seen(std::size_t row) const { return style_.causal ? row + 1 : count_; }
  std::string label(std::size_t row) const { return cut(names_[row], label_width_, ellipsis()); }

  std::string line(const std::string& label, const std::string& cells,
                   const std::string& sentence) const {
    const int width = static_cast<int>(count_) * (cell_width_ + 1);
    std::string text = pad_right(label, label_width_) + pad_right(cells, width);
    if (!sentence.empty()) return text + "   " + sentence + "\n";
    text.erase(text.find_last_not_of(' ') + 1);
    return text + "\n";
  }

  std::string header() const {
    std::string text;
    for (const std::string& name : names_)
      text +=
          " " + pad_right(cut(name, std::min(cell_width_, widest_word), ellipsis()), cell_width_);
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
    std::string text;
    for (std::size_t column = 0; column < seen(row); ++column) {
      const std::string drawn = cell(weight(row, column), style_);
      text += " " + pad_right(column == marked ? style_.paint.accent(drawn) : drawn, cell_width_);
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
           formatted(most < 10 ? " %.2f" : " %.0e", most) + formatted(" (chance %.2f)", 1 / words) +
           rest;
  }

  const std::vector<double>& weights_;
  const MapStyle& style_;
  std::size_t count_, first_;  // words, and the first that has a row
  std::vector<std::string> names_;
  int cell_width_ = 2, label_width_ = 2;
};

}  // namespace

std::string attention_map(const std::vector<std::string>& words, const std::vector<double>& weights,
                          const MapStyle& style) {
  if (weights.size() != words.size() * words.size())
    throw std::invalid_argument(
        "attention_map: one weight for each pair of words: " + std::to_string(words.size()) +
        " words and " + std::to_string(weights.size()) + " weights");
  return words.empty() ? "" : Map(words, weights, style).text();
}

}  // namespace support
