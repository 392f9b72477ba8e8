// Part 2: Q, K and V learn on those three vectors, alone and together.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "engine/ops.h"

namespace fledge::birds {

enum class Objective {
  product,  // v̂_walk·v_birds
  cosine,   // the same over both lengths
};

/// What attention makes of walk: a row of weights, and how near the result is to birds.
struct Look {
  std::array<double, 3> attention{};  // on birds, sometimes, walk
  double association = 0;
};

/// One experiment: which matrices learn, to raise what, and what came of it.
struct Learned {
  std::string learns;  // "Q", "Q and K", …
  Objective objective;
  Look before, after;
  std::optional<double> ceiling;  // the most that can be reached, where there is one
  Dim steps = 0;
};

/// With W_V fixed, v̂_walk is a weighted mean of v₁, v₂, v₃, so its product with v₁ is at most the
/// largest of v_j·v₁ = 0.14, −0.05, −0.09: reached only as walk looks at birds alone.
double product_ceiling();

/// W_Q = W_K = W_V = 1 at the start; those that learn climb the objective by gradient ascent.
///
///   q = X·W_Q   k = X·W_K   v = X·W_V      weights = softmax(q·kᵀ/√3, causal)     v̂ = weights·v
Learned learn(const std::string& learns, Objective objective, double rate, Dim steps);

/// Q, K, Q and K by the product; V and all by the cosine; and all by the product, which runs away.
std::vector<Learned> learn_all();

}  // namespace fledge::birds
