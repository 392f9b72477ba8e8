// Sees when a node of a graph is freed.
#pragma once

#include "engine/autograd.h"

namespace tests {

/// x, through a node whose rule holds `witness`. When this node has gone, witness.is_unique().
inline fledge::Tensor holding(const fledge::Array& witness, const fledge::Tensor& x) {
  return fledge::record("holding", x.value(),
                        wrt(x, [witness](const fledge::Array& dy) { return dy; }));
}

}  // namespace tests
