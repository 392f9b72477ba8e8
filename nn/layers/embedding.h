// The embedding layer: a learned vector for each token.
#pragma once

#include "engine/base/errors.h"
#include "nn/layers/initial_weights.h"
#include "nn/module.h"

namespace fledge {

/// y_i = weight[ids_i]   ids (…)   weight (V, C)   y (…, C)    initial weight: normal(0, deviation)
struct Embedding {
  Tensor weight;

  Embedding(Dim vocabulary, Dim width, InitialWeights initial,
            double deviation = 0.02) {  // 0.02: GPT-2's
    require<ValueError>(vocabulary > 0 && width > 0, "Embedding", "sizes must be positive: got ",
                        vocabulary, " and ", width);
    weight = parameter(initial.normal({vocabulary, width}, 0, deviation));
  }

  Tensor operator()(const Indices& ids) const { return embedding(weight, ids); }

  void visit(auto&& f) const { f("weight", weight); }
};

}  // namespace fledge
