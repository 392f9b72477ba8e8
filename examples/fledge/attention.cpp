#include "examples/fledge/attention.h"

#include <algorithm>

#include "examples/support/run_main.h"
#include "examples/support/text.h"
#include "nn/io/utf8.h"

namespace fledge {

AttentionWeights attention_weights(const Decoder& decoder, const Tokenizer& tokenizer) {
  AttentionWeights found{
      decoder.window(), {}, decoder.attention(), decoder.is_causal(), decoder.most_seen()};
  for (const Dim id : found.ids) found.tokens.push_back(tokenizer.decode({id}));
  return found;
}

void require_heads_of_model(const HeadChoice& choice, const LanguageModelSizes& sizes) {
  const auto require_below = [](const std::string& name, const std::optional<Dim>& given, Dim count,
                                const std::string& where) {
    if (!given || *given < count) return;
    const std::string option = "--" + name;
    const std::string last = std::to_string(count - 1);
    const std::string has = count == 1 ? "one " + name : std::to_string(count) + " " + name + "s";
    support::refuse_usage(option + " must be " + (count == 1 ? "" : "a number from 0 to ") + last +
                              ": this model has " + has + where + " (got " +
                              std::to_string(*given) + ")",
                          count == 1 ? "write " + option + " 0, or leave it out"
                                     : "write " + option + " " + last + " for the last " + name);
  };
  require_below("layer", choice.layer, sizes.layers, "");
  require_below("head", choice.head, sizes.heads, " in each layer");
}

std::vector<HeadNumber> chosen_heads(const AttentionWeights& attention, const HeadChoice& choice) {
  std::vector<HeadNumber> chosen;
  for (Dim layer = 0; layer < static_cast<Dim>(attention.layers.size()); ++layer)
    for (Dim head = 0; head < attention.heads(); ++head)
      if (choice.layer.value_or(layer) == layer && choice.head.value_or(head) == head)
        chosen.push_back({layer, head});
  return chosen;
}

Json as_json(const AttentionWeights& attention, const std::vector<HeadNumber>& heads) {
  const Dim T = attention.size();
  std::vector<std::string> tokens;
  for (const std::string& token : attention.tokens) tokens.push_back(utf8_text(token));
  std::vector<Json> all;
  for (const HeadNumber& head : heads) {
    std::vector<std::vector<float>> weights;
    for (Dim query = 0; query < T; ++query) {
      weights.emplace_back();
      for (Dim key = 0; key < T; ++key)
        weights.back().push_back(static_cast<float>(attention.weight(head, query, key)));
    }
    all.push_back(Json::object({{"layer", head.layer}, {"head", head.head}, {"weights", weights}}));
  }
  return Json::object(
      {{"begin", attention.begin}, {"ids", attention.ids}, {"tokens", tokens}, {"heads", all}});
}

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
  style.window = static_cast<std::size_t>(attention.most_seen);
  style.most_words = most_map_tokens;
  std::string title =
      "Layer " + std::to_string(head.layer) + ", head " + std::to_string(head.head) + ".";
  if (const auto hidden = static_cast<Dim>(hidden_words(names, style)); hidden > 0)
    title += std::string(" Column ") + (style.unicode ? "…" : "..") + ": the first " +
             support::counted(hidden, "token") + " together.";
  return support::wrapped(title, style.columns) + "\n" +
         support::attention_map(names, weights, style);
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
    const Dim width = style.columns + thumbnail_gap;
    const Dim room = std::max<Dim>(1, width / (narrowest_thumbnail + thumbnail_gap));
    const Dim in_line = ceil_div(count, ceil_div(count, room));
    const Dim columns = std::min(widest_thumbnail, width / in_line - thumbnail_gap);
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
