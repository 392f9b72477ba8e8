// What `generate --attention` and `train --probe` show: one head as a map, several as thumbnails.
#pragma once

#include "examples/fledge/attention/attention_weights.h"
#include "examples/support/attention_map.h"

namespace fledge {

/// Of one head a map: which token looks at which. It has the last tokens, at most 24 and as many as
/// fit beside each other; one column has the sum of the weights of the earlier ones, so that each row
/// adds up to 1. Of several heads small triangles of shades, as many beside each other as fit, a new
/// line of them for each layer; where a cell stands for several tokens, it shows the largest of their
/// weights. No line is wider than style.columns.
std::string attention_report(const AttentionWeights& attention,
                             const std::vector<HeadNumber>& heads, const support::MapStyle& style);

}  // namespace fledge
