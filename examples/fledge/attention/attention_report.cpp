#include "examples/fledge/attention/attention_report.h"

#include <algorithm>

#include "examples/support/text.h"

namespace fledge {

namespace {

constexpr int most_map_tokens = 24;
constexpr Dim narrowest_thumbnail = 18, widest_thumbnail = 24, thumbnail_gap = 2;  // columns

using Lines = std::vector<std::string>;

std::string map_of(const AttentionWeights& attention, HeadNumber head, support::MapStyle style) {
  Lines names;
  std::vector<double> weights;
  for (Dim query = 0; query < attention.size(); ++query) {
    const std::string& token = attention.tokens[static_cast<std::size_t>(query)];
    names.push_back(support::token_label(token, style.unicode));
    for (Dim key = 0; key < attention.size(); ++key)
      weights.push_back(attention.weight(head, query, key));
  }
  style.causal = attention.is_causal;
  style.most_words = most_map_tokens;
  std::string title =
      "Layer " + std::to_string(head.layer) + ", head " + std::to_string(head.head) + ".";
  if (const auto hidden = static_cast<Dim>(hidden_words(names, style)); hidden > 0)
    title += std::string(" Column ") + (style.unicode ? "…" : "..") + ": the first " +
             support::counted(hidden, "token") + " together.";
  return support::wrapped(title, style.columns) + "\n" +
         support::attention_map(names, weights, style);
}

/// How many thumbnails a line has, and how wide each is.
struct Layout {
  Dim in_line, columns;
};
Layout layout_of(Dim count, const support::MapStyle& style) {
  const Dim room =
      std::max<Dim>(1, (style.columns + thumbnail_gap) / (narrowest_thumbnail + thumbnail_gap));
  const Dim in_line = ceil_div(count, ceil_div(count, room));
  return {in_line,
          std::min(widest_thumbnail, (style.columns + thumbnail_gap) / in_line - thumbnail_gap)};
}

/// Whether a cell stands for several keys.
bool merges(Dim tokens, Dim columns) { return 2 * tokens > columns; }

/// Its label, and a line for each row of cells: a cell is two characters wide where that fits, else
/// one. A cell stands for some keys next to each other and twice as many queries, because a character
/// is twice as high as wide.
Lines thumbnail_of(const AttentionWeights& attention, HeadNumber head, Dim columns, bool unicode) {
  const Dim T = attention.size();
  const Dim keys = merges(T, columns) ? ceil_div(T, columns) : 1;
  const Dim queries = merges(T, columns) ? 2 * keys : 1;
  const bool is_wide = 2 * ceil_div(T, keys) <= columns;
  Lines lines{std::to_string(head.layer) + "." + std::to_string(head.head)};
  for (Dim top = 0; top < T; top += queries) {
    const Dim bottom = std::min(T, top + queries);
    std::string& line = lines.emplace_back();
    for (Dim left = 0; left < attention.seen(bottom - 1); left += keys) {
      double largest = 0;
      for (Dim query = top; query < bottom; ++query)
        for (Dim key = left; key < std::min(attention.seen(query), left + keys); ++key)
          largest = std::max(largest, attention.weight(head, query, key));
      const std::string drawn = support::shade(largest, unicode);
      line += is_wide ? drawn + drawn : drawn;
    }
  }
  return lines;
}

/// The heads of each layer; all heads together if each layer has one.
std::vector<std::vector<HeadNumber>> groups_of(const std::vector<HeadNumber>& heads) {
  std::vector<std::vector<HeadNumber>> groups;
  for (const HeadNumber& head : heads) {
    if (groups.empty() || groups.back().back().layer != head.layer) groups.emplace_back();
    groups.back().push_back(head);
  }
  if (groups.size() == heads.size()) return {heads};
  return groups;
}

std::string overview_of(const AttentionWeights& attention, const std::vector<HeadNumber>& heads,
                        const support::MapStyle& style) {
  std::string key = std::string("Each ") + (attention.is_causal ? "triangle" : "square") +
                    " is one head, named layer.head, both counted from 0. From top to bottom: the "
                    "tokens in their order. From left to right: the tokens that they look at.";
  bool has_merged = false;
  std::string text;
  for (const std::vector<HeadNumber>& group : groups_of(heads)) {
    const auto count = static_cast<Dim>(group.size());
    const auto [in_line, columns] = layout_of(count, style);
    has_merged = has_merged || merges(attention.size(), columns);
    for (Dim first = 0; first < count; first += in_line) {
      Lines beside;  // the lines of the thumbnails beside each other
      for (Dim n = first; n < std::min(count, first + in_line); ++n) {
        const Lines one =
            thumbnail_of(attention, group[static_cast<std::size_t>(n)], columns, style.unicode);
        beside.resize(one.size());
        for (std::size_t i = 0; i < one.size(); ++i)
          beside[i] += support::pad_right(one[i], static_cast<int>(columns + thumbnail_gap));
      }
      if (!text.empty()) text += "\n";
      for (std::string& line : beside) text += line.erase(line.find_last_not_of(' ') + 1) + "\n";
    }
  }
  if (has_merged)
    key += " Each character stands for several tokens and shows their largest weight.";
  return support::wrapped(key, style.columns) + "\n\n" + text +
         style.paint.dim(support::wrapped(support::shade_scale(style.unicode), style.columns)) +
         "\n";
}

}  // namespace

std::string attention_report(const AttentionWeights& attention,
                             const std::vector<HeadNumber>& heads, const support::MapStyle& style) {
  return heads.size() == 1 ? map_of(attention, heads[0], style)
                           : overview_of(attention, heads, style);
}

}  // namespace fledge
