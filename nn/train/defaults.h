// The sizes and rates that suit a text, and as many steps as fit into some work.
#pragma once

#include <functional>
#include <string_view>

#include "nn/gpt/language_model.h"
#include "nn/text/corpus.h"
#include "nn/train/trainer.h"

namespace fledge {

/// `most_passes`: the largest number of passes over the training text.
struct TrainingDefaults {
  Dim layers, heads, width, context, batch;
  double rate, dropout, decay, most_passes;
};

/// A shorter training text, in tokens, is soon known by heart.
inline constexpr Dim tiny_tokens = 10'000;
inline constexpr Dim seldom = 100;  // fewer training tokens for each symbol are rare symbols

/// Chosen from the number of training tokens, of symbols, and from the longest document.
TrainingDefaults defaults_for(const Corpus& corpus);

/// Sets each size and rate that is not given to that of the row. The heads divide the width. The
/// batch is halved until a step holds at most 10⁹ numbers. The steps do the work of `operations`
/// (step_cost.h), at least 20 of them, unless row.most_passes ends them before: then returns true.
/// `is_given` gets the names of options of `fledge train`: "layers", "lr". sizes.vocabulary must be
/// known.
bool choose_settings(const TrainingDefaults& row, const Corpus& corpus, double operations,
                     const std::function<bool(std::string_view)>& is_given,
                     LanguageModelSizes& sizes, TrainerOptions& training);

/// The tokens of the longest document, with the boundary in front of it; 0 for a stream.
Dim longest_document(const TokenText& text);

}  // namespace fledge
