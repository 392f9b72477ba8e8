// What a training step of the language model costs, computed before it runs.
#pragma once

#include <algorithm>

#include "nn/gpt/language_model.h"

namespace fledge {

/// Calls f(n, m) for each matrix (n, m) of a layer: those of queries, keys, values and the output,
/// then of the MLP.
void each_matrix(const LanguageModelSizes& sizes, auto&& f) {
  const HeadCount heads = sizes.head_count();
  const auto C = static_cast<double>(sizes.width),
             hidden = static_cast<double>(sizes.hidden_width());
  const double shared = C * static_cast<double>(heads.keys) / static_cast<double>(heads.queries);
  f(C, C), f(C, shared), f(C, shared), f(C, C);
  if (sizes.recipe.mlp == FeedForward::swiglu) f(C, hidden);
  f(C, hidden), f(hidden, C);
}

/// The numbers in the matrices of a layer.
inline double numbers_of_layer(const LanguageModelSizes& sizes) {
  double total = 0;
  each_matrix(sizes, [&](double n, double m) { total += n * m; });
  return total;
}

/// The largest number of Reals that a training step of `batch` windows holds, optimiser included.
/// Each layer keeps 19 vectors of `width` for a token (measured); 24 leaves room for temporary
/// ones, and 32 for those of today's parts (gpt/recipe.h). Each parameter has its gradient, two
/// moments and, mostly, its average.
inline double numbers_of_step(const LanguageModelSizes& sizes, double batch) {
  const auto C = static_cast<double>(sizes.width), T = static_cast<double>(sizes.context);
  const auto L = static_cast<double>(sizes.layers), V = static_cast<double>(sizes.vocabulary);
  const double vectors = sizes.recipe.is_gpt2() ? 24 : 32;
  return T * batch * (vectors * C * L + 4 * V) + 5 * (numbers_of_layer(sizes) * L + (V + T) * C);
}

/// Causal attention, forward and backward: six products of half a square, queries × keys × width.
/// What a kernel computes twice is not counted.
inline double operations_of_attention(double squares, double width) { return 6 * squares * width; }

/// Twice the pairs of a query and a key that T causal positions compute: T·T, or w·(2T − w) of a
/// window of w < T.
inline double squares_of(const LanguageModelSizes& sizes, double T) {
  const auto w = static_cast<double>(sizes.recipe.window);
  return w > 0 && w < T ? w * (2 * T - w) : T * T;
}

/// Multiplications and additions of the matrix products of a training step, for `batch` full
/// windows: two for each weight and token forward, four backward.
inline double operations_of_step(const LanguageModelSizes& sizes, double batch) {
  const auto C = static_cast<double>(sizes.width), T = static_cast<double>(sizes.context);
  const auto L = static_cast<double>(sizes.layers), V = static_cast<double>(sizes.vocabulary);
  const double tokens = batch * T;
  return tokens * 6 * (numbers_of_layer(sizes) * L + V * C) +
         L * operations_of_attention(batch * squares_of(sizes, T), C);
}

/// What Muon adds to a step: five times three products for each of the matrices of a block. One of
/// (n, m), n ≤ m, takes X·Xᵀ, its square, and their product with X: 2·(n·n·m + n·n·n + n·n·m).
inline double operations_of_muon(const LanguageModelSizes& sizes) {
  double total = 0;
  each_matrix(sizes, [&](double a, double b) {
    const double n = std::min(a, b), m = std::max(a, b);
    total += 10 * n * n * (2 * m + n);
  });
  return static_cast<double>(sizes.layers) * total;
}

/// The operations of a decoder that reads a prompt: forward alone, and the logits after the last
/// token.
inline double operations_of_prompt(const LanguageModelSizes& sizes, double tokens) {
  const auto C = static_cast<double>(sizes.width), L = static_cast<double>(sizes.layers);
  return 2 * (L * (tokens * numbers_of_layer(sizes) + C * squares_of(sizes, tokens)) +
              C * static_cast<double>(sizes.vocabulary));
}

}  // namespace fledge
