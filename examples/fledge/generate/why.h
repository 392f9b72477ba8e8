// generate --why: the attention in the step that drew a word, and the effect of each token on it.
//
// Not here: hiding a token (nn/inspect/ablation.h). Key idea: a large attention weight does not prove
// a large effect, so both are shown side by side.
#pragma once

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>
#include <vector>

#include "examples/fledge/trained_model.h"
#include "examples/support/table.h"
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
  Dim position(std::size_t index) const { return begin + static_cast<Dim>(index); }
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

/// The probability of the token and what it becomes with each of three tokens hidden, as bars; the
/// text with shades of what each token costs; and where each head looked.
std::string why_text(const Why& why, const Tokenizer& tokenizer, int columns, support::Paint paint);

/// {"word":…,"was_drawn":…,"id":…,"token":…,"probability":…,"begin":…,"read":[…],"read_ids":[…],
/// "heads":[…],"ln_p":…,"left_out":[{"position":…,"id":…,"token":…,"probability":…,"ln_p":…,
/// "change":…},…]}. Positions count from 0 in the text, and `read` begins at `begin`; an id is a
/// token's number; the change is that of ln p.
Json as_json(const Why& why, const Tokenizer& tokenizer);

/// A row for each token that can be hidden; none without an answer.
support::Rows why_rows(const std::optional<Why>& why, const Tokenizer& tokenizer);

}  // namespace fledge
