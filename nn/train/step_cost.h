// What a training step of the language model costs, computed before it runs.
#pragma once

#include "nn/gpt/language_model.h"

namespace fledge {

/// The numbers in the matrices of a layer.
inline double numbers_of_layer(const LanguageModelSizes& sizes) {
  const HeadCount heads = sizes.head_count();
  const auto C = static_cast<double>(sizes.width);
  return C *
         (10 * C + 2 * C * static_cast<double>(heads.keys) / static_cast<double>(heads.queries));
}

/// The largest number of Reals that a training step of `batch` windows holds, optimiser included.
/// Each layer keeps 19 vectors of `width` for a token (measured); 24 leaves room for temporary
/// ones, and 32 for those of today's parts (gpt/recipe.h). Each parameter has its gradient and two
/// moments.
inline double numbers_of_step(const LanguageModelSizes& sizes, double batch) {
  const auto C = static_cast<double>(sizes.width), T = static_cast<double>(sizes.context);
  const auto L = static_cast<double>(sizes.layers), V = static_cast<double>(sizes.vocabulary);
  const double vectors = sizes.recipe.is_gpt2() ? 24 : 32;
  return T * batch * (vectors * C * L + 4 * V) + 4 * (numbers_of_layer(sizes) * L + (V + T) * C);
}

/// Causal attention, forward and backward: six products of half a square, queries × keys × width.
/// What a kernel computes twice is not counted.
inline double operations_of_attention(double squares, double width) { return 6 * squares * width; }

/// Multiplications and additions of the matrix products of a training step, for `batch` full
/// windows: two for each weight and token forward, four backward.
inline double operations_of_step(const LanguageModelSizes& sizes, double batch) {
  const auto C = static_cast<double>(sizes.width), T = static_cast<double>(sizes.context);
  const auto L = static_cast<double>(sizes.layers), V = static_cast<double>(sizes.vocabulary);
  const double tokens = batch * T;
  return tokens * 6 * (numbers_of_layer(sizes) * L + V * C) +
         L * operations_of_attention(tokens * T, C);
}

/// What Muon adds to a step: five times three products for each of the matrices of a block. One of
/// (n, m), n ≤ m, takes X·Xᵀ, its square, and their product with X: 2·(n·n·m + n·n·n + n·n·m).
inline double operations_of_muon(const LanguageModelSizes& sizes) {
  const auto C = static_cast<double>(sizes.width), L = static_cast<double>(sizes.layers);
  const auto steps = [C](double m) { return 10 * C * C * (2 * m + C); };
  return L * (4 * steps(C) + 2 * steps(4 * C));
}

/// The largest number of Reals that `fledge bench generate` holds: the weights, keys and values,
/// and what reading a prompt needs.
inline double numbers_of_generation(const LanguageModelSizes& sizes) {
  const auto C = static_cast<double>(sizes.width), T = static_cast<double>(sizes.context);
  const auto L = static_cast<double>(sizes.layers), V = static_cast<double>(sizes.vocabulary);
  return numbers_of_layer(sizes) * L + (V + T) * C + T * C * (2 * L + 24) + 4 * V;
}

/// The operations of a decoder that reads a prompt: forward alone, and the logits after the last
/// token.
inline double operations_of_prompt(const LanguageModelSizes& sizes, double tokens) {
  const auto C = static_cast<double>(sizes.width), L = static_cast<double>(sizes.layers);
  return 2 * (tokens * L * (numbers_of_layer(sizes) + C * tokens) +
              C * static_cast<double>(sizes.vocabulary));
}

}  // namespace fledge
