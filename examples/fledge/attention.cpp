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

constexpr Dim most_rows = 24;

std::string map_of(const AttentionWeights& attention, HeadNumber head, support::MapStyle style) {
  std::vector<std::string> names;
  std::vector<double> weights;
  for (Dim query = 0; query < attention.size(); ++query) {
    const std::string& token = attention.tokens[static_cast<std::size_t>(query)];
    names.push_back(support::token_label(token, style.unicode));
    for (Dim key = 0; key < attention.size(); ++key)
      weights.push_back(attention.weight(head, query, key));
  }
  style.causal = attention.is_causal;
  style.window = static_cast<std::size_t>(attention.most_seen);
  return "Layer " + std::to_string(head.layer) + ", head " + std::to_string(head.head) + ".\n" +
         support::attention_map(names, weights, style);
}

/// "  0.1  walk looks at birds 0.98": the largest weight of a query.
std::string row_of(const AttentionWeights& attention, HeadNumber head, Dim query, int columns) {
  const auto name = [&](Dim token) {
    return support::short_label(attention.tokens[static_cast<std::size_t>(token)], 20);
  };
  Dim most = 0;
  for (Dim key = 1; key < attention.seen(query); ++key)
    if (attention.weight(head, query, key) > attention.weight(head, query, most)) most = key;
  return support::wrapped("  " + std::to_string(head.layer) + "." + std::to_string(head.head) +
                              "  " + name(query) + " looks at " + name(most) +
                              support::formatted(" %.2f", attention.weight(head, query, most)),
                          columns, 7) +
         "\n";
}

}  // namespace

std::string attention_report(const AttentionWeights& attention,
                             const std::vector<HeadNumber>& heads, const support::MapStyle& style) {
  const Dim count = attention.size();
  if (heads.size() == 1 && count <= most_rows) return map_of(attention, heads[0], style);
  std::string text = heads.size() == 1 ? "By layer.head, what looks most at what:\n"
                                       : "By layer.head, where the last token looks most:\n";
  for (const HeadNumber& head : heads)
    for (Dim query = heads.size() == 1 ? count - most_rows : count - 1; query < count; ++query)
      text += row_of(attention, head, query, style.columns);
  return text;
}

}  // namespace fledge
