// Part 3: a tiny attention + MLP model learns to guess the next word of the built-in text.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "nn/gpt/language_model.h"
#include "nn/text/words.h"

namespace fledge::birds {

/// Sentences as numbers, each padded at its end to the longest.
struct Batch {
  Indices ids;      // (B, T)
  Indices targets;  // (B, T): the word that comes next, `no_target` where none does
};
constexpr Dim no_target = -1;

/// The text, its words, and batches made of it.
class Text {
 public:
  Text();
  const Vocabulary& vocabulary() const { return vocabulary_; }
  Dim longest() const { return longest_; }
  Dim sentence_count() const { return static_cast<Dim>(sentences_.size()); }
  /// The sentences with these numbers.
  Batch batch(const std::vector<Dim>& which) const;
  /// The sentences that are exactly these texts. Throws ValueError for one that is not there.
  Batch batch_of(const std::vector<std::string>& texts) const;

 private:
  Batch padded(const std::vector<std::vector<Dim>>& rows) const;

  Vocabulary vocabulary_;
  std::vector<std::vector<Dim>> sentences_;
  Dim longest_ = 0;
};

/// The model of part 3: one layer, one head; its sizes are those of the text.
LanguageModelSizes model_sizes(const Text& text);
LanguageModel new_model(const Text& text, std::uint64_t seed);

struct Training {
  std::vector<double> losses;   // of each step's batch, nats per word
  double loss_of_guessing = 0;  // log V: every word equally likely
};
/// AdamW on random batches of sentences; results depend on the seed alone.
Training train(const LanguageModel& model, const Text& text, std::uint64_t seed);

/// Where a word looks and what that does to it, in one sentence.
struct Watch {
  std::string sentence, word, looks_at;
};
struct Watched {
  double attention = 0;  // the weight of the look, mean of the heads
  double association =
      0;  // cosine of what attention passes to the word, Σ_j a_j·v_j, and v of looks_at
};
/// walk at birds and, for control, at sometimes; at (before the blank) at birds and at good.
const std::vector<Watch>& watches();
Watched watch(const LanguageModel& model, const Text& text, const Watch& watch);

/// Weights of the first layer in a sentence, mean of the heads: n × n, row by row.
std::vector<double> attention_pattern(const LanguageModel& model, const Text& text,
                                      const std::string& sentence);

struct Completion {
  std::string next;
  double probability = 0;
};
/// The most likely next word.
Completion complete(const LanguageModel& model, const Text& text, const std::string& prompt);

}  // namespace fledge::birds
