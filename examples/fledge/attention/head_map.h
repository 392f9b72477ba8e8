// The attention weights of one head as a map: which token looks at which.
#pragma once

#include "examples/fledge/attention/attention_weights.h"
#include "examples/support/attention_map.h"

namespace fledge {

/// The number of tokens that a map shows, the last ones: at most 24, and as many as fit beside each
/// other into the terminal.
Dim tokens_of_map(const AttentionWeights& attention, const support::MapStyle& style);

/// The name of the column of a map that has the sum of the weights of the tokens it does not show.
inline const char* earlier_column(const support::MapStyle& style) {
  return style.unicode ? "…" : "..";
}

/// The map of one head. If it does not show all tokens, one column has the sum of the weights
/// of the earlier ones, so that each row still adds up to 1.
std::string head_map(const AttentionWeights& attention, HeadNumber head, support::MapStyle style);

}  // namespace fledge
