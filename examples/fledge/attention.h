// The attention weights of a pass over a text, of each layer, head, query and key: as JSON, as
// rows, and as `generate --attention` shows them, one head as a map, several as a list.
//
// The weights come from the decoder that computed the logits, so what is shown is what was
// computed.
#pragma once

#include "examples/support/drawn.h"
#include "nn/gpt/decoder.h"
#include "nn/io/json.h"
#include "nn/text/tokenizer.h"

namespace fledge {

/// One head of one layer; both are counted from 0.
struct HeadNumber {
  Dim layer = 0, head = 0;
};

struct AttentionWeights {
  std::vector<Dim> ids;             // the T tokens of the pass
  std::vector<std::string> tokens;  // their texts
  std::vector<Array> layers;        // of each layer (H, T, T): rows are queries, columns keys
  bool is_causal;                   // no query sees the keys after it
  Dim most_seen;                    // a query sees at most this many keys; 0: no limit
  Dim begin = 0;  // tokens of the text before these: the decoder's window had moved on

  Dim size() const { return static_cast<Dim>(ids.size()); }
  /// The number of keys that a query sees: those from 0 on.
  Dim seen(Dim query) const { return is_causal ? query + 1 : size(); }
  Dim heads() const { return layers.at(0).dim(0); }
  /// From the query at one position to the key at another; 0 for a key that it does not see.
  double weight(HeadNumber head, Dim query, Dim key) const {
    return value_of(layers.at(static_cast<std::size_t>(head.layer)).at({head.head, query, key}));
  }
};

/// The weights of the pass that gave the decoder's last logits, over its window.
AttentionWeights attention_weights(const Decoder& decoder, const Tokenizer& tokenizer);

/// What --layer and --head choose. All heads where nothing was chosen.
struct HeadChoice {
  std::optional<Dim> layer, head;
};
/// Throws UsageError for a layer or a head that a model of these sizes does not have.
void require_heads_of_model(const HeadChoice& choice, const LanguageModelSizes& sizes);
std::vector<HeadNumber> chosen_heads(const AttentionWeights& attention, const HeadChoice& choice);

/// {"begin":…,"ids":[…],"tokens":[…],"heads":[{"layer":…,"head":…,"weights":[[…],…]},…]}. The weights,
/// with the digits that give the same float, have a row for each query and a column for each key; a
/// key that the query does not see has 0.
Json as_json(const AttentionWeights& attention, const std::vector<HeadNumber>& heads);
/// Of one head and at most 24 tokens a map: which token looks at which. Of more tokens a row for each of
/// the last 24, and of several heads one for each: at which token it looks most, or the last token
/// does. No line is wider than style.columns.
std::string attention_report(const AttentionWeights& attention,
                             const std::vector<HeadNumber>& heads, const support::MapStyle& style);

}  // namespace fledge
