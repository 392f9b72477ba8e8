// generate --probs: what could have been drawn in each step, with the probabilities that were used.
#pragma once

#include <string>
#include <vector>

#include "examples/support/table.h"
#include "nn/generate/sampler.h"
#include "nn/text/tokenizer.h"

namespace fledge {

/// A token that could be drawn, at the temperature, top-k and top-p in use. The likeliest has rank 1.
struct RankedChoice {
  Dim token;
  double probability;
  Dim rank;
};

/// One step: the token that was drawn, and the likeliest ones, at most five. The drawn token is
/// always among them, the last one if it is not one of the five likeliest.
struct DrawnToken {
  RankedChoice drawn;
  std::vector<RankedChoice> likeliest;
  Dim position = 0;  // of the token in the text, counted from 0

  double surprise() const;  // −log2 p, in bits
};
DrawnToken drawn_token(const Array& logits, const SampleOptions& options, Dim token, Dim position);

/// What the lines of --probs mean.
std::string probabilities_title(const SampleOptions& options, int columns);

/// A line: the likeliest tokens with their probabilities, the drawn one in brackets.
std::string probabilities_text(const DrawnToken& step, const Tokenizer& tokenizer, int columns,
                               support::Paint paint);

/// [{"position":…,"id":…,"token":…,"probability":…,"rank":…,"likeliest":[{"id":…,"token":…,
/// "probability":…,"rank":…},…]},…]. The id is the token's number.
Json as_json(const std::vector<DrawnToken>& steps, const Tokenizer& tokenizer);

/// A row for each token of `likeliest` of each step; `drawn` is 1 or 0.
support::Rows probability_rows(const std::vector<DrawnToken>& steps, const Tokenizer& tokenizer);

}  // namespace fledge
