// What `generate --attention` and `train --probe` show.
#pragma once

#include "examples/fledge/attention/attention_weights.h"
#include "examples/support/attention_map.h"

namespace fledge {

/// Of one head a map, of several heads thumbnails. No line is wider than style.columns.
std::string attention_report(const AttentionWeights& attention,
                             const std::vector<HeadNumber>& heads, const support::MapStyle& style);

}  // namespace fledge
