// The results of the four parts of the birds program, as text for people and as JSON for programs.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "examples/birds/by_hand.h"
#include "examples/birds/learning.h"
#include "examples/birds/model_state.h"
#include "examples/birds/text_model.h"
#include "examples/support/terminal.h"

namespace fledge::birds {

/// The results of part 3, before and after training.
struct TextStory {
  struct Seen {
    Watch pair;
    Watched before, after;
  };
  struct Completed {
    std::string prompt;
    Completion before, after;
  };
  Dim sentence_count = 0, parameters = 0;
  Dim vocabulary = 0;           // the words and the line end
  double loss_of_guessing = 0;  // log(vocabulary): every token equally likely
  std::vector<double> losses;   // of each step, nats per token
  std::vector<Seen> watched;
  std::vector<Completed> completed;
  std::vector<double> pattern_before, pattern_after;  // of the first watched sentence
  report::ModelState state;                           // for the gradient check
};

/// Trains the model of part 3. The result depends on the seed alone.
TextStory tell_text(std::uint64_t seed);

/// Each part as text, at most 80 columns wide, with colours if the paint is on.
std::string words(const ByHand& part, support::Paint paint);
std::string words(const std::vector<Learned>& part, support::Paint paint);
std::string words(const TextStory& part, support::Paint paint);
std::string words(const report::ModelProof& part, support::Paint paint);

/// All parts as one JSON object.
std::string json(const ByHand& by_hand, const std::vector<Learned>& learning, const TextStory& text,
                 const report::ModelProof& proof);

}  // namespace fledge::birds
