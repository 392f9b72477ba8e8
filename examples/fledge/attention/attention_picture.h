// Attention weights as an SVG picture.
#pragma once

#include "examples/fledge/attention/attention_weights.h"
#include "examples/support/svg.h"

namespace fledge {

/// Of one head: arcs from each token to those it looks at, those of the last token in another
/// colour; and below them a map, where a darker box is a larger weight. At most the last 64 tokens.
/// Weights below 0.005 are not drawn. Of several heads: a small map of each, with its label, without
/// weights below 0.02.
support::Svg attention_picture(const AttentionWeights& attention,
                               const std::vector<HeadNumber>& heads);

}  // namespace fledge
