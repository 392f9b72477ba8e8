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

/// The attention of walk: its row of weights, the products v_j·v₁ of the three values with birds,
/// and how near the result is to birds.
struct Look {
  std::array<double, 3> attention{}, products{};  // on birds, sometimes, walk
  double association = 0;
};

/// One experiment: which matrices learn, which objective they raise, and the result.
struct Learned {
  std::string learns;  // "Q", "Q and K", …
  Objective objective;
  Look before, after;
  std::optional<double> ceiling;  // the upper bound of the association, if there is one
  double rate = 0;
  Dim steps = 0;
  std::vector<Look> path;  // before each step, and after the last
};

/// With W_V fixed, v̂_walk is a weighted mean of v₁, v₂, v₃. Its product with v₁ is therefore at
/// most the largest of v_j·v₁ = 0.14, −0.05, −0.09. Only a weight of 1 on birds reaches it.
double product_ceiling();

/// W_Q = W_K = W_V = identity at the start; the matrices in `learns` follow gradient ascent.
///
///   q = X·W_Q   k = X·W_K   v = X·W_V      weights = softmax(q·kᵀ/√3, causal)     v̂ = weights·v
Learned learn(const std::string& learns, Objective objective, double rate, Dim steps);

/// The same at the one setting that make run, the lessons and the page use. The rate is 10 if W_V
/// stays, and 1 if it learns. The steps are 400, or 100 if the product has no ceiling.
Learned learn(const std::string& learns, Objective objective);

/// Six experiments: Q, K, and Q and K with the product; V, and Q, K and V, with the cosine; Q, K
/// and V with the product, which grows without bound.
std::vector<Learned> learn_all();

}  // namespace fledge::birds
