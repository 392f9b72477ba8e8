// An entry on the board of the smallest models: how many parameters it has, and with how many seeds it
// learns that 'walk' belongs to 'birds'. Used by the lesson and by exercise 18. One seed more or less
// counts with another compiler or processor, where sums have other last digits: so `enough` is not all.
#pragma once

#include "examples/lessons/attention/blanks.h"
#include "nn/train/trainer.h"

namespace fledge::smallest {

inline constexpr int seeds = 10, enough = 8, steps = 2000;

/// One layer with one head on the text of make run.
struct Entry {
  Dim width, hidden;
  Bias bias;
  double rate;  // of training
};

struct Grade {
  Dim parameters = 0;
  int learned = 0;  // with how many of ten seeds
};

/// Learned: after 'birds sometimes walk' the likeliest word is 'slowly', and 'walk' gives 'birds' more
/// than half of its weight.
inline Grade grade(const Entry& entry, std::uint64_t first_seed = 1) {
  const Corpus& text = blanks::text();
  LanguageModelSizes sizes = birds::model_sizes(text);
  sizes.width = entry.width, sizes.hidden = entry.hidden, sizes.bias = entry.bias;
  Grade found;
  for (std::uint64_t seed = first_seed; seed < first_seed + seeds; ++seed) {
    Rng rng(seed);
    const LanguageModel model(sizes, rng);
    TrainerOptions options = birds::training_options(seed);
    options.schedule = {.rate = entry.rate, .warmup = 100, .steps = steps};
    Trainer trainer(model, text.train, options);
    while (trainer.steps_done() < steps) trainer.step();
    found.parameters = count_parameters(model);
    found.learned += blanks::is_filled(model, text, blanks::slowly) &&
                             birds::watch(model, text, birds::watches()[0]).attention > 0.5
                         ? 1
                         : 0;
  }
  return found;
}

}  // namespace fledge::smallest
