#include "examples/fledge/attention/thumbnails.h"

#include <algorithm>

#include "examples/support/text.h"

namespace fledge {

namespace {

constexpr Dim narrowest_head = 18,
              widest_head = 24;  // columns of a thumbnail
constexpr Dim head_gap = 2;      // columns between two

using Lines = std::vector<std::string>;

/// Two characters a cell where that fits, else one.
Lines lines_of(const Thumbnail& thumbnail, Dim columns, bool unicode) {
  const bool wide = 2 * static_cast<Dim>(thumbnail.rows.back().size()) <= columns;
  Lines lines;
  for (const std::vector<double>& row : thumbnail.rows) {
    lines.emplace_back();
    for (const double weight : row) {
      const std::string drawn = support::shade(weight, unicode);
      lines.back() += wide ? drawn + drawn : drawn;
    }
  }
  return lines;
}

/// Blocks of lines beside each other, all as wide as `columns`.
std::string beside(const std::vector<Lines>& blocks, Dim columns) {
  std::string text;
  std::size_t height = 0;
  for (const Lines& block : blocks) height = std::max(height, block.size());
  for (std::size_t i = 0; i < height; ++i) {
    std::string line;
    for (const Lines& block : blocks)
      line += support::pad_right(i < block.size() ? block[i] : "",
                                 static_cast<int>(columns + head_gap));
    text += line.erase(line.find_last_not_of(' ') + 1) + "\n";
  }
  return text;
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

/// How many thumbnails of a group stand in a line, and their width.
struct Layout {
  Dim in_line, columns;
};
Layout layout_of(const std::vector<HeadNumber>& group, const support::MapStyle& style) {
  const Dim room = std::max<Dim>(1, (style.columns + head_gap) / (narrowest_head + head_gap));
  const Dim count = static_cast<Dim>(group.size()), lines = ceil_div(count, room);
  const Dim in_line = ceil_div(count, lines);
  return {in_line, std::min(widest_head, (style.columns + head_gap) / in_line - head_gap)};
}

/// Whether a cell stands for several keys.
bool merges(Dim tokens, Dim columns) { return 2 * tokens > columns; }

}  // namespace

bool thumbnails_merge(const AttentionWeights& attention, const std::vector<HeadNumber>& heads,
                      const support::MapStyle& style) {
  const auto groups = groups_of(heads);
  return std::any_of(groups.begin(), groups.end(), [&](const std::vector<HeadNumber>& group) {
    return merges(attention.size(), layout_of(group, style).columns);
  });
}

Thumbnail thumbnail_of(const AttentionWeights& attention, HeadNumber head, Dim columns) {
  const Dim T = attention.size();
  Thumbnail thumbnail;
  if (merges(T, columns)) {
    thumbnail.keys_of_cell = ceil_div(T, columns);
    thumbnail.queries_of_cell = 2 * thumbnail.keys_of_cell;
  }
  for (Dim top = 0; top < T; top += thumbnail.queries_of_cell) {
    const Dim bottom = std::min(T, top + thumbnail.queries_of_cell);
    thumbnail.rows.emplace_back();
    for (Dim left = 0; left < attention.seen(bottom - 1); left += thumbnail.keys_of_cell) {
      double largest = 0;
      for (Dim query = top; query < bottom; ++query)
        for (Dim key = left; key < std::min(attention.seen(query), left + thumbnail.keys_of_cell);
             ++key)
          largest = std::max(largest, attention.weight(head, query, key));
      thumbnail.rows.back().push_back(largest);
    }
  }
  return thumbnail;
}

std::string thumbnails(const AttentionWeights& attention, const std::vector<HeadNumber>& heads,
                       const support::MapStyle& style) {
  std::string text;
  for (const std::vector<HeadNumber>& group : groups_of(heads)) {
    const Dim count = static_cast<Dim>(group.size());
    const auto [in_line, columns] = layout_of(group, style);
    for (Dim first = 0; first < count; first += in_line) {
      std::vector<Lines> blocks;
      for (Dim n = first; n < std::min(count, first + in_line); ++n) {
        const HeadNumber head = group[static_cast<std::size_t>(n)];
        Lines block{std::to_string(head.layer) + "." + std::to_string(head.head)};
        const Lines drawn =
            lines_of(thumbnail_of(attention, head, columns), columns, style.unicode);
        block.insert(block.end(), drawn.begin(), drawn.end());
        blocks.push_back(std::move(block));
      }
      text += (text.empty() ? "" : "\n") + beside(blocks, columns);
    }
  }
  return text;
}

}  // namespace fledge
