// The model that a row measures, its tokens, and how its sizes are written.
#pragma once

#include <initializer_list>
#include <string>
#include <vector>

#include "examples/fledge/bench/bench.h"
#include "nn/gpt/language_model.h"

namespace fledge::bench {

/// "4x4x128"
inline std::string by(std::initializer_list<std::int64_t> sizes) {
  std::string text;
  for (const std::int64_t size : sizes) text += (text.empty() ? "" : "x") + std::to_string(size);
  return text;
}

inline std::string short_vocabulary_of(const StepSizes& sizes) {
  return " " + std::to_string(sizes.vocab) + (sizes.bias ? "" : " no bias");
}

inline std::string vocabulary_of(const StepSizes& sizes) {
  return " vocab" + short_vocabulary_of(sizes);
}

inline LanguageModelSizes model_sizes(const StepSizes& sizes) {
  return {.vocabulary = sizes.vocab,
          .context = sizes.context,
          .layers = sizes.layers,
          .heads = sizes.heads,
          .width = sizes.width,
          .bias = sizes.bias ? Bias::with : Bias::without};
}

inline LanguageModel model_of(const StepSizes& sizes, Rng& rng) {
  return {model_sizes(sizes), rng};
}

inline std::vector<Dim> random_tokens(Dim count, Dim vocab, Rng& rng) {
  std::vector<Dim> tokens(static_cast<std::size_t>(count));
  for (Dim& token : tokens) token = rng.below(vocab);
  return tokens;
}

}  // namespace fledge::bench
