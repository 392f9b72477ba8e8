#include "examples/fledge/attention/attention_weights.h"

#include "examples/support/errors.h"
#include "nn/io/utf8.h"

namespace fledge {

AttentionWeights::AttentionWeights(std::vector<Dim> token_numbers,
                                   std::vector<Array> weights_of_layers, const Tokenizer& tokenizer,
                                   bool causal)
    : ids(std::move(token_numbers)), layers(std::move(weights_of_layers)), is_causal(causal) {
  for (const Dim id : ids) tokens.push_back(tokenizer.decode({id}));
}

AttentionWeights attention_weights(const Decoder& decoder, const Tokenizer& tokenizer) {
  return {decoder.window(), decoder.attention(), tokenizer, decoder.is_causal()};
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

support::Rows attention_rows(const AttentionWeights& attention,
                             const std::vector<HeadNumber>& heads) {
  support::Rows rows({"layer", "head", "query", "query_id", "query_token", "key", "key_id",
                      "key_token", "weight"});
  const auto at = [&](const auto& list, Dim index) {
    return list[static_cast<std::size_t>(index)];
  };
  for (const HeadNumber& head : heads)
    for (Dim query = 0; query < attention.size(); ++query)
      for (Dim key = 0; key < attention.seen(query); ++key)
        rows.add({head.layer, head.head, attention.begin + query, at(attention.ids, query),
                  at(attention.tokens, query), attention.begin + key, at(attention.ids, key),
                  at(attention.tokens, key),
                  static_cast<float>(attention.weight(head, query, key))});
  return rows;
}

}  // namespace fledge
