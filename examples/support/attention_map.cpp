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

std::string ellipsis_of(const MapStyle& style) { return style.unicode ? "…" : "."; }

std::string name_of(const std::string& word, const MapStyle& style) {
  const bool is_blank = word.find_first_not_of(' ') == std::string::npos;
  return cut(is_blank ? quoted(word) : printable(word), 20, ellipsis_of(style));
}

/// Of labels and cells, for the words from `first` on.
int width_of(const std::vector<std::string>& words, std::size_t first, const MapStyle& style) {
  int width = 2;
  for (std::size_t word = first; word < words.size(); ++word)
    width = std::max(width, std::min(widest_word, display_width(name_of(words[word], style))));
  return width;
}

/// The words and their weights row by row.
class Map {
 public:
  Map(const std::vector<std::string>& words, const std::vector<double>& weights,
      const MapStyle& style)
      : weights_(weights),
        style_(style),
        count_(words.size()),
        hidden_(hidden_words(words, style)),
        width_(width_of(words, hidden_, style)) {
    for (const std::string& word : words) names_.push_back(name_of(word, style));
  }

  std::string text() const {
    const auto columns = static_cast<int>(count_ - hidden_ + (hidden_ > 0 ? 1 : 0));
    const int grid_width = width_ + columns * (width_ + 1);
    int longest = 0;
    std::string sentences;
    for (std::size_t row = hidden_; row < count_; ++row) {
      sentences += wrapped(sentence(row), style_.columns, 2) + "\n";
      longest = std::max(longest, display_width(sentence(row)));
    }
    if (grid_width > style_.columns) return sentences;
    const bool beside = grid_width + 3 + longest <= style_.columns;
    const auto line = [&](std::string grid, const std::string& right) {
      if (beside) return pad_right(grid, grid_width) + "   " + right + "\n";
      return grid.erase(grid.find_last_not_of(' ') + 1) + "\n";
    };
    std::string header = label("");
    if (hidden_ > 0) header += " " + label(style_.unicode ? "…" : "..");
    for (std::size_t word = hidden_; word < count_; ++word) header += " " + label(names_[word]);
    std::string lines = line(header, style_.paint.dim("rows look at columns"));
    for (std::size_t row = hidden_; row < count_; ++row) lines += line(cells(row), sentence(row));
    lines += style_.paint.dim(wrapped(shade_scale(style_.unicode), style_.columns)) + "\n";
    return beside ? lines : lines + sentences;
  }

 private:
  double weight(std::size_t row, std::size_t column) const {
    return weights_[row * count_ + column];
  }
  std::size_t seen(std::size_t row) const { return style_.causal ? row + 1 : count_; }
  double hidden_weight(std::size_t row) const {
    double sum = 0;
    for (std::size_t column = 0; column < hidden_; ++column) sum += weight(row, column);
    return sum;
  }
  std::string label(const std::string& name) const {
    return pad_right(cut(name, width_, ellipsis_of(style_)), width_);
  }

  /// The column of the row's largest weight, the first of equal ones; the first NaN if there is one.
  std::size_t largest(std::size_t row) const {
    std::size_t best = hidden_;
    for (std::size_t column = hidden_; column < seen(row); ++column) {
      if (std::isnan(weight(row, column))) return column;
      if (weight(row, column) > weight(row, best)) best = column;
    }
    return best;
  }

  std::string cells(std::size_t row) const {
    const std::size_t marked = largest(row);
    std::string text = label(names_[row]);
    if (hidden_ > 0) text += " " + pad_right(cell(hidden_weight(row), style_), width_);
    for (std::size_t column = hidden_; column < seen(row); ++column) {
      const std::string drawn = cell(weight(row, column), style_);
      text += " " + pad_right(column == marked ? style_.paint.accent(drawn) : drawn, width_);
    }
    return text;
  }

  std::string sentence(std::size_t row) const {
    const std::size_t column = largest(row);
    const double most = weight(row, column);
    if (std::isnan(most)) return names_[row] + " looks at what is not a number";
    const std::string rest =
        hidden_ > 0 ? formatted("; at all earlier ones %.2f", hidden_weight(row)) : "";
    if (most <= 0) return names_[row] + " looks nowhere" + (rest.empty() ? "" : " here") + rest;
    return names_[row] + " looks at " + names_[column] +
           formatted(most < 10 ? " %.2f" : " %.0e", most) +
           formatted(" (even split %.2f)", 1 / static_cast<double>(seen(row))) + rest;
  }

  const std::vector<double>& weights_;
  const MapStyle& style_;
  std::size_t count_, hidden_;  // words, and those without a row
  int width_;
  std::vector<std::string> names_;
};

constexpr double least_share = 0.05;

/// A character with the marks that combine with it.
struct ShadedCell {
  std::string text;
  double share;
  int width;
};

class PaintedLines {
 public:
  PaintedLines(int columns, Paint paint, bool unicode)
      : columns_(columns), paint_(paint), unicode_(unicode) {}

  void add(const std::string& one, double share) {
    const std::string drawn = one == "\n" ? token_label(one, unicode_) : printable(one);
    const int width = display_width(drawn);
    if (width == 0 && !word_.empty()) {
      word_.back().text += drawn;
      return;
    }
    word_.push_back({drawn, share, width});
    word_width_ += width;
    if (one == " " || one == "\n") end_word();
    if (one == "\n") end_line();
  }

  std::string text() {
    end_word();
    if (!line_.empty()) end_line();
    return text_;
  }

 private:
  void end_word() {
    const bool has_blank = !word_.empty() && word_.back().text == " ";
    if (width_ > 0 && width_ + word_width_ - (has_blank ? 1 : 0) > columns_) end_line();
    for (const ShadedCell& cell : word_) {
      if (width_ + cell.width > columns_) end_line();
      line_.push_back(cell);
      width_ += cell.width;
    }
    word_.clear();
    word_width_ = 0;
  }

  void end_line() {
    std::string line, below;
    for (std::size_t begin = 0, end = 0; begin < line_.size(); begin = end) {
      std::string run;  // of cells with the same shade
      const double share = line_[begin].share;
      for (; end < line_.size() && (end == begin || line_[end].share == share); ++end) {
        run += line_[end].text;
        for (int i = 0; i < line_[end].width; ++i)
          below += share >= least_share ? shade(share, unicode_) : " ";
      }
      line += paint_.ground(run, share);
    }
    for (std::string* shown : {&line, &below}) shown->erase(shown->find_last_not_of(' ') + 1);
    text_ += line + "\n";
    if (!paint_.on && !below.empty()) text_ += below + "\n";
    line_.clear();
    width_ = 0;
  }

  int columns_;
  Paint paint_;
  bool unicode_;
  std::vector<ShadedCell> word_, line_;
  int word_width_ = 0, width_ = 0;
  std::string text_;
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

std::size_t hidden_words(const std::vector<std::string>& words, const MapStyle& style) {
  const int width = width_of(words, 0, style), count = static_cast<int>(words.size());
  const int fit = (style.columns - width) / (width + 1);  // without the names of the rows
  if (style.most_words == 0 || count <= std::min(style.most_words, fit)) return 0;
  return static_cast<std::size_t>(count -
                                  std::clamp(fit - 1, 1, std::min(style.most_words, count)));
}

std::string attention_map(const std::vector<std::string>& words, const std::vector<double>& weights,
                          const MapStyle& style) {
  if (weights.size() != words.size() * words.size())
    throw std::invalid_argument(
        "attention_map: one weight for each pair of words: " + std::to_string(words.size()) +
        " words and " + std::to_string(weights.size()) + " weights");
  return words.empty() ? "" : Map(words, weights, style).text();
}

std::string painted_text(const std::vector<ShadedPart>& parts, int columns, Paint paint,
                         bool unicode) {
  PaintedLines lines(columns, paint, unicode);
  for (const auto& [text, share] : parts)
    for (std::size_t at = 0, bytes = 0; at < text.size(); at += bytes) {
      bytes = fledge::code_point_at(text, at).bytes;
      const std::string one = text.substr(at, bytes);
      lines.add(one, one == " " && at == 0 && text.size() > 1 ? 0 : share);
    }
  return lines.text();
}

}  // namespace support
