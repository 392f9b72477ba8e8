#include "examples/fledge/attention/attention_weights.h"

#include "examples/support/errors.h"

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

}  // namespace fledge
