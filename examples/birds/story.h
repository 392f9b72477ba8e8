// The results of the four parts of the birds program, as text.
#pragma once

#include "examples/birds/by_hand.h"
#include "examples/birds/learning.h"
#include "examples/birds/model_state.h"
#include "examples/birds/text_model.h"
#include "examples/support/text.h"

namespace fledge::birds {

/// test_seeds.cpp trains with each of the seeds 1 to 100. With `fulfil` of them, 'walk' looks at
/// 'birds' more than at any other word, and all blanks get the right word.
struct SeedCount {
  std::uint64_t tested = 100, fulfil = 99;
};
inline constexpr SeedCount seed_count;

/// The probability of the word that follows a beginning in the text, after training.
struct Effect {
  std::string next;    // that word
  double visible = 0;  // its probability if the model sees all words of the beginning
  double hidden = 0;   // its probability if one of them is hidden from the later words
};

/// The results of part 3, before and after training.
struct TextStory {
  struct Seen {
    Watch pair;
    Watched before, after;
    Effect effect;  // of hiding pair.looks_at
  };
  struct Completed {
    std::string prompt;
    Completion before, after;
  };
  std::uint64_t seed = 0;
  Dim sentence_count = 0, parameters = 0;
  Dim vocabulary = 0;                      // the words and the line end
  double loss_of_guessing = 0;             // log(vocabulary): every token equally likely
  double least_loss = 0;                   // of any model: nn/inspect/ngram_losses.h
  double loss_before = 0, loss_after = 0;  // the mean over the whole text, nats per token
  std::vector<double> losses;              // of the sentences of each step, before it
  std::vector<Seen> watched;
  std::vector<Completed> completed;
  std::vector<double> pattern_before, pattern_after;  // of the first watched sentence
  report::ModelState state;                           // for the gradient check
};

/// Trains the model of part 3. The result depends on the seed alone.
TextStory tell_text(std::uint64_t seed);

/// What attention is and what the program shows, for a reader who knows nothing of either.
std::string introduction();

/// Each part as text, at most 80 columns wide, with colours if the paint is on.
std::string words(const ByHand& part, support::Paint paint);
std::string words(const std::vector<Learned>& part, support::Paint paint);
std::string words(const TextStory& part, support::Paint paint);
std::string words(const report::ModelProof& part, support::Paint paint);

}  // namespace fledge::birds
