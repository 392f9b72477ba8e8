// The table of planted bugs, group by group.
//
// Most leave the forward pass right: the loss still falls, which is why such bugs live for years. A
// new bug is one entry in its group; the test programs/planted_table tells when an entry no longer
// fits its source.
#pragma once

#include <span>
#include <vector>

#include "attention.h"
#include "broadcasting.h"
#include "bug.h"
#include "checker.h"
#include "elementwise.h"
#include "fused.h"
#include "graph.h"
#include "layers.h"
#include "masks.h"
#include "moving.h"
#include "normalising.h"
#include "optimisers.h"
#include "products.h"
#include "reductions.h"

namespace planted {

inline std::vector<Bug> all_bugs() {
  std::vector<Bug> all;
  const auto add = [&all](std::span<const Bug> group) {
    all.insert(all.end(), group.begin(), group.end());
  };
  add(elementwise_bugs);
  add(broadcasting_bugs);
  add(product_bugs);
  add(moving_bugs);
  add(reduction_bugs);
  add(normalising_bugs);
  add(attention_bugs);
  add(mask_bugs);
  add(graph_bugs);
  add(layer_bugs);
  add(optimiser_bugs);
  add(fused_bugs);
  add(checker_bugs);
  return all;
}

}  // namespace planted
