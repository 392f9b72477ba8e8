// The attention weights of a pass over a text: of each layer, head, query and key.
//
// Not here: showing them (head_map.h, thumbnails.h), exporting them (attention_data.h). Key idea:
// the weights come from the decoder that computed the logits, so what is shown is what was computed.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "nn/gpt/decoder.h"
#include "nn/text/tokenizer.h"

namespace fledge {

struct AttentionWeights {
  std::vector<Dim> ids;             // the T tokens of the pass
  std::vector<std::string> tokens;  // their texts
  std::vector<Array> layers;        // of each layer (H, T, T): rows are queries, columns keys
  /// The number of tokens of the text before these: the window of the decoder had moved on.
  Dim begin = 0;

  Dim size() const { return static_cast<Dim>(ids.size()); }
  Dim heads() const { return layers.at(0).dim(0); }
  /// From the query at one position to the key at another; 0 for a later key.
  double weight(Dim layer, Dim head, Dim query, Dim key) const {
    return value_of(layers.at(static_cast<std::size_t>(layer)).at({head, query, key}));
  }
};

/// The weights of the pass that gave the decoder's last logits, over its window.
AttentionWeights attention_weights(const Decoder& decoder, const Tokenizer& tokenizer);

/// One head of one layer; both are counted from 0.
struct HeadNumber {
  Dim layer = 0, head = 0;
};

/// Those that were asked for with --layer and --head: all of them where nothing was asked for.
struct HeadChoice {
  std::optional<Dim> layer, head;
};
std::vector<HeadNumber> chosen_heads(const AttentionWeights& attention, const HeadChoice& choice);

}  // namespace fledge
