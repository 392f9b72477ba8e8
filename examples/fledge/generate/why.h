// generate --why: the attention in the step that drew a word, and the effect of each token on it.
//
// Not here: hiding a token (nn/inspect/ablation.h). Key idea: a large attention weight does not
// prove a large effect, so both are shown side by side.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "nn/inspect/ablation.h"
#include "nn/io/json.h"
#include "nn/text/tokenizer.h"

namespace fledge {

/// The first of the drawn tokens of `word`. With other tokens than words: the token that has the
/// first byte of the word. None when the word was not drawn.
std::optional<std::size_t> where_drawn(const Tokenizer& tokenizer, const std::vector<Dim>& drawn,
                                       const std::string& word);

struct Why {
  struct Look {
    Dim place;
    double weight;
  };
  struct Head {
    Dim layer, head;
    std::vector<Look> most;  // at most three, the largest weight first
  };

  std::string word;
  Dim token = 0;          // the token that the step drew, the first of the word
  std::vector<Dim> read;  // the tokens that the model read: place 0 … T − 1
  std::vector<Head> heads;
  Ablation left_out;
};

/// read: the window of the decoder when it drew the token.
Why why_drawn(const LanguageModel& model, const std::string& word, std::vector<Dim> read,
              Dim token);

/// For people: the probability, a line a head, a line a token that was read.
std::string why_text(const Why& why, const Tokenizer& tokenizer);
/// For programs: {"word":…,"token":…,"probability":…,"read":[…],"heads":[…],"left_out":[…]}.
Json as_json(const Why& why, const Tokenizer& tokenizer);

}  // namespace fledge
