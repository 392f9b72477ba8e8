#include "examples/fledge/attention/attention_picture.h"

#include <algorithm>
#include <cmath>

#include "examples/support/text.h"
#include "examples/support/token_label.h"

namespace fledge {

namespace {

using support::Svg;

constexpr Dim most_tokens_drawn = 64;
constexpr double least_weight = 0.005, least_small_weight = 0.02;
constexpr double edge = 20, letter = 7.5, line_height = 18;

const std::string& ink() { return support::svg_colours().front(); }
constexpr const char* last_ink = "#d55e00";  // vermillion, Okabe & Ito 2008

/// The weights of the tokens from `first` on, as boxes of this size.
void draw_boxes(Svg& svg, const AttentionWeights& attention, HeadNumber head, Dim first, double x,
                double y, double width, double height, double least) {
  for (Dim query = first; query < attention.size(); ++query)
    for (Dim key = first; key < attention.seen(query); ++key) {
      const double weight = attention.weight(head, query, key);
      if (weight >= least)
        svg.box(x + static_cast<double>(key - first) * width,
                y + static_cast<double>(query - first) * height, width, height, ink(), weight);
    }
}

/// Arcs above a line of tokens, from the middle of a query to the middle of a key.
void draw_arcs(Svg& svg, const AttentionWeights& attention, HeadNumber head, Dim first, double x,
               double y, double step) {
  const auto middle = [&](Dim token) {
    return x + (static_cast<double>(token - first) + 0.5) * step;
  };
  for (Dim query = first; query < attention.size(); ++query)
    for (Dim key = first; key < attention.seen(query); ++key) {
      if (key == query) continue;
      const double weight = attention.weight(head, query, key);
      const bool last = query + 1 == attention.size();
      if (weight >= least_weight)
        svg.arc(middle(query), middle(key), y, last ? last_ink : ink().c_str(), 0.5 + 3 * weight,
                weight);
    }
}

Svg picture_of_one(const AttentionWeights& attention, HeadNumber head) {
  const Dim T = attention.size(), first = std::max<Dim>(0, T - most_tokens_drawn);
  std::vector<std::string> labels;
  int widest = 1;
  for (Dim token = first; token < T; ++token) {
    labels.push_back(support::cut(
        support::token_label(attention.tokens[static_cast<std::size_t>(token)], true), 12));
    widest = std::max(widest, support::display_width(labels.back()));
  }
  const auto count = static_cast<double>(T - first);
  const double cell = std::max(line_height, letter * widest + 6), names = letter * widest + 8;
  const double left = edge + names, arcs = 0.375 * cell * (count - 1) + 10;
  const double line = edge + line_height + arcs + line_height;  // of the tokens below the arcs
  const double top = line + line_height, bottom = top + count * line_height;
  Svg svg(std::max(left + count * cell, 520.0) + edge, bottom + 2 * line_height + edge);
  svg.text(edge, edge + 12,
           "Layer " + std::to_string(head.layer) + ", head " + std::to_string(head.head));
  draw_arcs(svg, attention, head, first, left, line - line_height + 4, cell);
  draw_boxes(svg, attention, head, first, left, top, cell, line_height, least_weight);
  for (Dim token = first; token < T; ++token) {
    const auto n = static_cast<double>(token - first);
    const std::string& label = labels[static_cast<std::size_t>(token - first)];
    svg.text(left + (n + 0.5) * cell, line, label, Svg::Anchor::middle);
    svg.text(left - 6, top + n * line_height + 13, label, Svg::Anchor::end);
  }
  std::string note = "arcs: from a token to those it looks at; orange: from the last token";
  if (first > 0)
    note += "; the last " + std::to_string(T - first) + " of " + support::counted(T, "token");
  svg.text(edge, bottom + line_height, note, Svg::Anchor::start, 11);
  svg.text(edge, bottom + 2 * line_height,
           "map: rows look at columns; a darker box is a larger weight", Svg::Anchor::start, 11);
  return svg;
}

Svg picture_of_all(const AttentionWeights& attention, const std::vector<HeadNumber>& heads) {
  constexpr double side = 150, between = 20, label = 34;
  const bool all_heads = heads.size() > static_cast<std::size_t>(attention.heads());
  const Dim across =
      std::min<Dim>(all_heads ? attention.heads() : 8, static_cast<Dim>(heads.size()));
  const Dim down = ceil_div(static_cast<Dim>(heads.size()), across);
  Svg svg(2 * edge + static_cast<double>(across) * (side + between),
          2 * edge + static_cast<double>(down) * (side + label + between));
  const double box = side / static_cast<double>(attention.size());
  for (std::size_t n = 0; n < heads.size(); ++n) {
    const Dim column = static_cast<Dim>(n) % across, row = static_cast<Dim>(n) / across;
    const double x = edge + static_cast<double>(column) * (side + between);
    const double y = edge + static_cast<double>(row) * (side + label + between);
    svg.text(x, y + 12, std::to_string(heads[n].layer) + "." + std::to_string(heads[n].head));
    svg.box(x, y + label, side, side, "#f2f2f2");
    draw_boxes(svg, attention, heads[n], 0, x, y + label, box, box, least_small_weight);
  }
  return svg;
}

}  // namespace

Svg attention_picture(const AttentionWeights& attention, const std::vector<HeadNumber>& heads) {
  return heads.size() == 1 ? picture_of_one(attention, heads[0]) : picture_of_all(attention, heads);
}

}  // namespace fledge
