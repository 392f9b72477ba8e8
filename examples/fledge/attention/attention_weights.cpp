#include "examples/fledge/attention/attention_weights.h"

namespace fledge {

AttentionWeights attention_weights(const Decoder& decoder, const Tokenizer& tokenizer) {
  AttentionWeights attention{decoder.window(), {}, decoder.attention()};
  for (const Dim id : attention.ids) attention.tokens.push_back(tokenizer.decode({id}));
  return attention;
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
