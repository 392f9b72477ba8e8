// A small language model, its text and its options, for the tests of the trainer.
#pragma once

#include <string_view>
#include <vector>

#include "nn/train/trainer.h"

namespace tests {

using namespace fledge;

constexpr std::string_view trainer_text =
    "birds sometimes walk and birds often fly over the small blue lake\n";

inline Corpus corpus() { return read_corpus(trainer_text, {}); }

inline LanguageModel model_of(const Corpus& c, double dropout = 0.1) {
  Rng rng(5);
  LanguageModelSizes sizes{.vocabulary = c.tokenizer.size(), .context = 8, .width = 8};
  sizes.layers = sizes.heads = 2, sizes.dropout = dropout;
  return {sizes, rng};
}

inline TrainerOptions options(std::int64_t steps) {
  TrainerOptions result;
  result.batch = 3;
  result.average = 0.8;
  result.schedule = {.rate = 0.02, .warmup = 2, .steps = steps};
  return result;
}

inline std::vector<double> numbers(const LanguageModel& model) {
  std::vector<double> all;
  for (const Tensor& tensor : parameters(model))
    for (Dim i = 0; i < tensor.size(); ++i) all.push_back(value_of(tensor.value()[i]));
  return all;
}

}  // namespace tests
