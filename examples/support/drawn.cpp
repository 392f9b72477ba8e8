#include "examples/support/drawn.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <stdexcept>

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
  /// 0 at and below the low end, 1 at and above the high end; 0.5 if all are equal. Halves, because
  /// high − low may be more than a double holds.
  double share(double value) const {
    if (value < low || value > high) return value > high ? 1 : 0;
    return high > low ? (value / 2 - low / 2) / (high / 2 - low / 2) : 0.5;
  }
};

/// The text in the colour of a curve.
std::string painted(const Paint& paint, std::size_t curve, const std::string& text) {
  if (curve == 0) return paint.accent(text);
  return curve % 3 == 1 ? paint.good(text) : curve % 3 == 2 ? paint.bad(text) : paint.bold(text);
}

std::string whole(double x) { return thousands(std::llround(x)); }

constexpr std::array<const char*, 5> shades{"·", "░", "▒", "▓", "█"};
constexpr std::array<double, 4> shade_limits{0.05, 0.25, 0.5, 0.75};
constexpr std::string_view ascii_shades = ".:-=+*#%@";

}  // namespace

std::string sparkline(const std::vector<double>& values, const std::vector<double>& scale,
                      bool unicode) {
  Extent extent;
  for (const auto& numbers : {values, scale})
    for (const double value : numbers)
      if (std::isfinite(value)) extent.include(value);
  const Glyphs& glyphs = unicode ? heights : ascii_heights;
  std::string line;
  for (const double value : values)
    line += std::isnan(value)
                ? "?"
                : glyphs[static_cast<std::size_t>(std::min(7.0, extent.share(value) * 8))];
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
  Extent xs, ys;
  bool is_cut = false;  // some point is above the top
  const auto cut_at_top = [&](double y) { return plot.top ? std::min(y, *plot.top) : y; };
  const auto can_be_drawn = [](double x, double y) {  // larger numbers have no room in labels
    return std::abs(x) <= 1e15 && std::abs(y) <= 1e15;
  };
  for (const LinePlot::Curve& curve : plot.curves)
    for (const auto& [x, y] : curve.points)
      if (can_be_drawn(x, y)) {
        xs.include(x);
        ys.include(cut_at_top(y));
        is_cut = is_cut || y > cut_at_top(y);
      }
  if (ys.low > ys.high) return "";  // no point
  for (const LinePlot::Level& level : plot.levels)
    if (std::isfinite(level.value)) ys.include(cut_at_top(level.value));
  const auto count = static_cast<std::size_t>(std::max(rows, 2));
  const auto row_of = [&](double y) { return index_of(1 - ys.share(cut_at_top(y)), count); };
  std::vector<std::string> labels(count);  // the names of the levels
  int label_columns = 0;
  for (const auto& [name, value] : plot.levels) {
    if (!std::isfinite(value)) continue;
    std::string& label = labels[row_of(value)];
    label += (label.empty() ? "" : ", ") + name + formatted(" %.2f", value);
    label_columns = std::max(label_columns, display_width(label));
  }
  label_columns = std::min(label_columns, columns * 2 / 5);
  const std::string high = formatted("%.2f", ys.high), low = formatted("%.2f", ys.low);
  const int left = std::max(display_width(high), display_width(low));
  const auto width = static_cast<std::size_t>(std::max(columns - left - 2 - 1 - label_columns, 10));

  std::vector<std::vector<std::string>> cells(count, std::vector<std::string>(width, " "));
  for (std::size_t row = 0; row < count; ++row)
    if (!labels[row].empty()) cells[row].assign(width, paint.dim(unicode ? "┄" : "-"));
  std::string legend;
  for (std::size_t i = 0; i < plot.curves.size(); ++i) {
    const LinePlot::Curve& curve = plot.curves[i];
    const std::string mark = painted(paint, i, unicode ? curve.mark : curve.ascii_mark);
    std::vector<double> sums(width), counts(width);
    for (const auto& [x, y] : curve.points) {
      if (!can_be_drawn(x, y)) continue;
      const std::size_t column = index_of(xs.share(x), width);
      sums[column] += cut_at_top(y);
      ++counts[column];
    }
    for (std::size_t column = 0; column < width; ++column)
      if (counts[column] > 0) cells[row_of(sums[column] / counts[column])][column] = mark;
    legend += (legend.empty() ? "" : "   ") + mark + " " + curve.name;
  }
  std::string text;
  for (std::size_t row = 0; row < count; ++row) {
    const std::string number = row == 0 ? high : row + 1 == count ? low : "";
    const std::string edge = unicode ? (number.empty() ? "│" : "┤") : "|";
    std::string line = pad_left(number, left) + " " + edge;
    for (const std::string& cell : cells[row]) line += cell;
    line += " " + cut(labels[row], label_columns, unicode ? "…" : ".");
    text += line.erase(line.find_last_not_of(' ') + 1) + "\n";
  }
  std::vector<std::string> axis(width, unicode ? "─" : "-");
  if (plot.best) {
    const std::size_t best = index_of(xs.share(*plot.best), width);
    if (plot.is_worse_after)
      std::fill(axis.begin() + std::ptrdiff_t(best), axis.end(), unicode ? "░" : "#");
    axis[best] = unicode ? "▲" : "^";
    legend += "   " + axis[best] + " best at " + whole(*plot.best) +
              (plot.is_worse_after ? ", then worse" : "");
  }
  if (is_cut) legend += "   above " + high + ": at the top";
  text += pad_left("", left) + " " + (unicode ? "└" : "+");
  for (const std::string& cell : axis) text += cell;
  const std::string first = whole(xs.low), last = whole(xs.high) + " steps";
  text += "\n" + pad_left("", left + 2) + first +
          pad_left(last, static_cast<int>(width) - display_width(first)) + "\n";
  return text + wrapped(pad_left("", left + 2) + legend, columns, left + 2) + "\n";
}

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
  if (words.empty()) return "";
  constexpr int widest_word = 6;
  const std::size_t count = words.size();
  const std::string ellipsis = style.unicode ? "…" : ".";
  std::vector<std::string> names;
  int width = 2;  // of labels and cells
  for (const std::string& word : words) {
    const bool is_blank = word.find_first_not_of(' ') == std::string::npos;
    names.push_back(cut(is_blank ? quoted(word) : printable(word), 20, ellipsis));
    width = std::max(width, std::min(widest_word, display_width(names.back())));
  }
  const auto label = [&](const std::string& name) {
    return pad_right(cut(name, width, ellipsis), width);
  };

  std::vector<std::string> rows, sentences;
  int longest = 0;
  for (std::size_t row = 0; row < count; ++row) {
    const double* const of_row = &weights[row * count];
    const std::size_t seen = style.causal ? row + 1 : count;
    const std::size_t visible = style.window > 0 ? std::min(seen, style.window) : seen;
    std::size_t most = 0;  // the largest weight, the first of equal ones; the first NaN if any
    for (std::size_t column = 1; column < seen && !std::isnan(of_row[most]); ++column)
      if (std::isnan(of_row[column]) || of_row[column] > of_row[most]) most = column;
    rows.push_back(label(names[row]));
    for (std::size_t column = 0; column < seen; ++column) {
      std::string cell = shade(of_row[column], style.unicode);
      if (cell != "?" && cell != shades[0]) cell += cell;
      rows.back() += " " + pad_right(column == most ? style.paint.accent(cell) : cell, width);
    }
    const double weight = of_row[most];
    sentences.push_back(
        names[row] +
        (std::isnan(weight) ? " looks at what is not a number"
         : weight <= 0
             ? " looks nowhere"
             : " looks at " + names[most] + formatted(weight < 10 ? " %.2f" : " %.0e", weight) +
                   formatted(" (even split %.2f)", 1 / static_cast<double>(visible))));
    longest = std::max(longest, display_width(sentences.back()));
  }

  const int grid_width = width + static_cast<int>(count) * (width + 1);
  const bool has_room = grid_width <= style.columns;
  const bool beside = grid_width + 3 + longest <= style.columns;
  const auto line = [&](std::string grid, const std::string& right) {
    if (beside) return pad_right(grid, grid_width) + "   " + right + "\n";
    return grid.erase(grid.find_last_not_of(' ') + 1) + "\n";
  };
  std::string header = label(""), map, below;
  for (const std::string& name : names) header += " " + label(name);
  map = line(header, style.paint.dim("rows look at columns"));
  for (std::size_t row = 0; row < count; ++row) {
    map += line(rows[row], sentences[row]);
    below += wrapped(sentences[row], style.columns, 2) + "\n";
  }
  map += style.paint.dim(wrapped(shade_scale(style.unicode), style.columns)) + "\n";
  return !has_room ? below : beside ? map : map + below;
}

}  // namespace support
