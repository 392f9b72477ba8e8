// generate --why: the attention in the step that drew a word, and the effect of each token on it.
//
// Not here: hiding a token (nn/inspect/ablation.h), showing the result (why_report.h). Key idea: a
// large attention weight does not prove a large effect, so both are shown side by side.
#pragma once

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>
#include <vector>

#include "examples/fledge/trained_model.h"
#include "nn/inspect/ablation.h"

namespace fledge {

/// The first of the drawn tokens of `word`. With other tokens than words: the token that has the
/// first byte of the word. None when the word was not drawn.
std::optional<std::size_t> where_drawn(const Tokenizer& tokenizer, const std::vector<Dim>& drawn,
                                       const std::string& word);

struct Why {
  struct Look {
    std::size_t index;  // in `read`
    double weight;
  };
  struct Head {
    Dim layer, head;
    std::vector<Look> most;  // at most three, the largest weight first
  };

  std::string word;
  bool was_drawn = true;  // else the step after the prompt, if it had drawn the word
  Dim token = 0;          // the first token of the word
  std::vector<Dim> read;  // the tokens that the model read for this step: index 0 … T − 1
  Dim begin = 0;          // the position of the first of them in the text, counted from 0
  std::vector<Head> heads;
  Ablation left_out;

  double probability() const { return std::exp(left_out.log_p); }
  /// In the text, counted from 0, as --attention counts it.
  std::string position(std::size_t index) const {
    return std::to_string(begin + static_cast<Dim>(index));
  }
  /// With this token hidden; not for the last one, where the prediction is made.
  double probability_without(std::size_t index) const {
    return std::exp(left_out.without.at(index));
  }
  /// The share of the probability that is lost when this token is hidden: 0 … 1, 0 if it rises.
  double cost(std::size_t index) const {
    return std::max(0.0, 1 - std::exp(left_out.without.at(index) - left_out.log_p));
  }
};

/// read: the window of the decoder when it drew the token; `begin`: its position in the text.
Why why_drawn(const TrainedModel& trained, const std::string& word, std::vector<Dim> read,
              Dim begin, Dim token);

}  // namespace fledge
