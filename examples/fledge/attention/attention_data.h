// Attention weights for programs: JSON and CSV. Weights have the digits that give the same float.
#pragma once

#include "examples/fledge/attention/attention_weights.h"
#include "nn/io/json.h"

namespace fledge {

/// {"begin":…,"ids":[…],"tokens":[…],"heads":[{"layer":…,"head":…,"role":…,"share":…,"chance":…,
/// "token":…,"weights":[[…],…]},…]}. begin: the number of tokens of the text before these. ids: their
/// numbers. The weights have a row for each query and a column for each key; a key that the query does
/// not see has 0. token is null unless the role is "one token".
Json as_json(const AttentionWeights& attention, const std::vector<HeadNumber>& heads);

/// The names of the columns, and below them a row for each query and each key that it can see. A
/// query and a key are positions in the text, counted from 0.
inline const std::vector<std::string> attention_columns{
    "layer", "head", "query", "query_id", "query_token", "key", "key_id", "key_token", "weight"};
std::vector<std::vector<std::string>> attention_rows(const AttentionWeights& attention,
                                                     const std::vector<HeadNumber>& heads);

}  // namespace fledge
