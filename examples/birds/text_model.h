// Part 3: a model of one attention layer and one MLP learns to predict the next word of a text.
//
// Not here: tokens, batches, training and decoding, which are in nn. This file has the settings.
// Key idea: to predict the word after walk, the model must look back at the animal.
// Next: text_story.cpp.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "nn/gpt/language_model.h"
#include "nn/text/corpus.h"
#include "nn/train/trainer.h"

namespace fledge::birds {

inline constexpr CorpusOptions reading_options{
    .reading = Reading::lines, .tokens = Tokens::word, .valid = 0};
/// The built-in text in words. Each sentence is a document, which begins with a line end.
Corpus read_text();

/// The token numbers of a line end and these words: the beginning of a sentence. Throws
/// UnknownSymbol for a word that the text does not have.
std::vector<Dim> beginning(const Corpus& corpus, const std::string& words);
/// The same as one row (1, T).
Indices beginning_row(const Corpus& corpus, const std::string& words);

/// One layer, one head, 16 wide; the context is as long as the longest sentence.
LanguageModelSizes model_sizes(const Corpus& corpus);
/// Its recipe (nn/gpt/recipe.h) may be without a part, or have weights that do not learn.
LanguageModel new_model(const Corpus& corpus, std::uint64_t seed, const Recipe& recipe = {});

inline constexpr std::int64_t training_steps = 500;
/// 500 steps of 12 sentences each.
TrainerOptions training_options(std::uint64_t seed);
/// Trains with these options. Returns the loss of each step, in nats per token.
std::vector<double> train(const LanguageModel& model, const Corpus& corpus, std::uint64_t seed);

/// A word of a sentence, and an earlier word whose weight is observed.
struct Watch {
  std::string sentence, word, looks_at;
};
struct Watched {
  double attention = 0;    // the weight that `word` gives to `looks_at`, mean of the heads
  double association = 0;  // cosine of Σ_j a_j·v_j, which attention passes to `word`, and v of
                           // `looks_at`
};
/// Four pairs. Two of them, walk with sometimes and at with good, are controls.
const std::vector<Watch>& watches();
/// Throws ValueError for a word that is not in the sentence.
Watched watch(const LanguageModel& model, const Corpus& corpus, const Watch& watch);

/// The weights of the first layer when it reads a line end and then the n words of a sentence, mean
/// of the heads: (n + 1)² numbers, row by row.
std::vector<double> attention_pattern(const LanguageModel& model, const Corpus& corpus,
                                      const std::string& sentence);

struct Completion {
  std::string next;
  double probability = 0;
};
/// The most likely word after these words.
Completion complete(const LanguageModel& model, const Corpus& corpus, const std::string& words);

}  // namespace fledge::birds
