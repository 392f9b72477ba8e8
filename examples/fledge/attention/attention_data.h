// Attention weights for programs: JSON and CSV.
#pragma once

#include "examples/fledge/attention/attention_weights.h"
#include "nn/io/json.h"

namespace fledge {

/// {"begin":…,"tokens":[…],"heads":[{"layer":…,"head":…,"weights":[[…],…]},…]}. The weights have a
/// row for each query and a column for each key; a later key has 0.
Json as_json(const AttentionWeights& attention, const std::vector<HeadNumber>& heads);

}  // namespace fledge
