// The model of make run without one of its parts, and what it still learns.
//
// Used by the lesson that breaks the model, and by the page of the course.
#pragma once

#include <string>
#include <vector>

#include "examples/lessons/attention/blanks.h"
#include "examples/support/run_main.h"
#include "examples/support/text.h"
#include "nn/train/trainer.h"

namespace fledge::variants {

inline constexpr int seeds = 20;

/// "without mask", "W_Q = W_K" and so on.
struct Broken {
  std::string name;
  Recipe recipe;
};

inline Recipe without(const std::string& part) {
  Recipe recipe;
  bool is_part = part.empty();
  std::string parts;
  recipe.each([&]<class Part>(const char* word, Part& member) {
    if (part == word) member = Part::none;
    is_part = is_part || part == word;
    parts += (parts.empty() ? "" : ", ") + std::string(word);
  });
  if (!is_part)
    support::refuse_usage("--without " + support::quoted(part) + " is not a part of the model",
                          "the parts are " + parts);
  return recipe;
}

inline std::vector<Broken> all_variants() {
  std::vector<Broken> all{{"nothing left out", {}}};
  for (const char* part :
       {"mask", "positions", "scale", "mlp", "value", "residual", "norm", "attention"})
    all.push_back({std::string("without ") + part, without(part)});
  all.push_back({"W_Q = W_K", {.tie_qk = true}});
  all.push_back({"W_Q, W_K frozen", {.learned = {.q = Learning::none, .k = Learning::none}}});
  all.push_back({"W_V frozen", {.learned = {.v = Learning::none}}});
  return all;
}

/// Of one run, or means over runs.
struct Outcome {
  double loss = 0, attention = 0;  // nats a word, over the whole text; 'walk' to 'birds'
  double slowly = 0, flying = 0;   // in how many runs the word is the likeliest
};

inline Outcome outcome(const Corpus& text, const Recipe& recipe, std::uint64_t seed) {
  const LanguageModel model = birds::new_model(text, seed, recipe);
  birds::train(model, text, seed);
  return {mean_loss(model, text.train, text.train.documents()),
          birds::watch(model, text, birds::watches()[0]).attention,
          blanks::is_filled(model, text, blanks::slowly) ? 1. : 0.,
          blanks::is_filled(model, text, blanks::flying) ? 1. : 0.};
}

/// The mean of the loss and of the attention, and the sum of the counts, over the seeds 1 to 20.
inline Outcome mean_outcome(const Corpus& text, const Recipe& recipe) {
  Outcome sum;
  for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
    const Outcome one = outcome(text, recipe, seed);
    sum.loss += one.loss / seeds, sum.attention += one.attention / seeds;
    sum.slowly += one.slowly, sum.flying += one.flying;
  }
  return sum;
}

}  // namespace fledge::variants
