#include "examples/fledge/attention/head_map.h"

#include <algorithm>

#include "examples/support/text.h"
#include "examples/support/token_label.h"

namespace fledge {

namespace {

constexpr Dim most_tokens = 24;
constexpr int narrowest_cell = 2, widest_cell = 6;  // as attention_map() has them

}  // namespace

Dim tokens_of_map(const AttentionWeights& attention, const support::MapStyle& style) {
  int width = narrowest_cell;
  for (const std::string& token : attention.tokens) {
    const int columns = support::display_width(support::token_label(token, style.unicode));
    width = std::max(width, std::min(widest_cell, columns));
  }
  const Dim fit = (style.columns - width) / (width + 1);  // without the names of the rows
  const Dim T = attention.size();
  if (T <= std::min(most_tokens, fit)) return T;
  return std::clamp<Dim>(fit - 1, 1, std::min(most_tokens, T));
}

std::string head_map(const AttentionWeights& attention, HeadNumber head, support::MapStyle style) {
  const Dim T = attention.size(), first = T - tokens_of_map(attention, style);
  std::vector<std::string> names;
  std::vector<double> shown;
  if (first > 0) {
    names.emplace_back(earlier_column(style));
    shown.resize(
        static_cast<std::size_t>(T - first + 1));  // attention_map() does not show this row
  }
  for (Dim query = first; query < T; ++query) {
    const std::string& token = attention.tokens[static_cast<std::size_t>(query)];
    names.push_back(support::token_label(token, style.unicode));
    double earlier = 0;
    for (Dim key = 0; key < first; ++key) earlier += attention.weight(head, query, key);
    if (first > 0) shown.push_back(earlier);
    for (Dim key = first; key < T; ++key) shown.push_back(attention.weight(head, query, key));
  }
  style.causal = attention.is_causal;
  style.earlier = static_cast<int>(first);
  return support::attention_map(names, shown, style);
}

}  // namespace fledge
