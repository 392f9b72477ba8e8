#include "examples/fledge/attention/attention_weights.h"

namespace fledge {

AttentionWeights::AttentionWeights(std::vector<Dim> token_numbers,
                                   std::vector<Array> weights_of_layers, const Tokenizer& tokenizer)
    : ids(std::move(token_numbers)), layers(std::move(weights_of_layers)) {
  std::vector<bool> is_blank;
  for (const Dim id : ids) {
    tokens.push_back(tokenizer.decode({id}));
    is_blank.push_back(!tokens.back().empty() &&
                       tokens.back().find_first_not_of(" \t\n\r\v\f") == std::string::npos);
  }
  for (const Array& weights : layers) roles.push_back(head_roles(weights, ids, is_blank));
}

AttentionWeights attention_weights(const Decoder& decoder, const Tokenizer& tokenizer) {
  return {decoder.window(), decoder.attention(), tokenizer};
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
