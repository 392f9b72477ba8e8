// All heads at a glance: each one a small triangle of shades, with a label of what it does.
#pragma once

#include "examples/fledge/attention/attention_weights.h"
#include "examples/support/attention_map.h"

namespace fledge {

/// A head in few cells. A cell stands for some queries and keys next to each other, and has the
/// largest of their weights. Row r has the cells that have a key which a query of this row can see.
struct Thumbnail {
  Dim queries_of_cell = 1, keys_of_cell = 1;
  std::vector<std::vector<double>> rows;
};

/// At most `columns` cells in a row. Queries are twice as many as keys where a cell has several: a
/// character is twice as high as wide.
Thumbnail thumbnail_of(const AttentionWeights& attention, HeadNumber head, Dim columns);

/// Whether thumbnails() has cells that stand for several tokens.
bool thumbnails_merge(const AttentionWeights& attention, const std::vector<HeadNumber>& heads,
                      const support::MapStyle& style);

/// Thumbnails of these heads, as many beside each other as fit, a new line of them for each layer.
/// Above each: layer.head, what gets most of its weight, and the share.
std::string thumbnails(const AttentionWeights& attention, const std::vector<HeadNumber>& heads,
                       const support::MapStyle& style);

}  // namespace fledge
