// What a training step of the language model costs, computed before it runs.
#pragma once

#include "nn/gpt/language_model.h"

namespace fledge {

/// The largest number of Reals that a training step of `batch` windows holds, optimiser included.
/// Each layer keeps 19 vectors of `width` for a token (measured); 24 leaves room for temporary
/// ones. Each parameter has its gradient and two moments.
inline double numbers_of_step(const LanguageModelSizes& sizes, double batch) {
  const auto C = static_cast<double>(sizes.width), T = static_cast<double>(sizes.context);
  const auto L = static_cast<double>(sizes.layers), V = static_cast<double>(sizes.vocabulary);
  return T * batch * (24 * C * L + 4 * V) + 4 * (12 * C * C * L + (V + T) * C);
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
  return tokens * 6 * (12 * L * C * C + V * C) + L * operations_of_attention(tokens * T, C);
}

/// The largest number of Reals that `fledge bench generate` holds: the weights, keys and values,
/// and what reading a prompt needs.
inline double numbers_of_generation(const LanguageModelSizes& sizes) {
  const auto C = static_cast<double>(sizes.width), T = static_cast<double>(sizes.context);
  const auto L = static_cast<double>(sizes.layers), V = static_cast<double>(sizes.vocabulary);
  return 12 * C * C * L + (V + T) * C + T * C * (2 * L + 24) + 4 * V;
}

/// The operations of a decoder that reads a prompt: forward alone, and the logits after the last
/// token.
inline double operations_of_prompt(const LanguageModelSizes& sizes, double tokens) {
  const auto C = static_cast<double>(sizes.width), L = static_cast<double>(sizes.layers);
  return 2 * C * (tokens * L * (12 * C + tokens) + static_cast<double>(sizes.vocabulary));
}

}  // namespace fledge
