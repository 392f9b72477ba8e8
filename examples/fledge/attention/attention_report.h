// What `generate --attention` and `train --probe` show.
#pragma once

#include "examples/fledge/attention/head_map.h"

namespace fledge {

/// A map of each of these heads.
std::string attention_report(const AttentionWeights& attention,
                             const std::vector<HeadNumber>& heads, const support::MapStyle& style);

}  // namespace fledge
