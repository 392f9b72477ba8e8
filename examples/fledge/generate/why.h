// generate --why: what the step that drew a word rested on.
//
// Not here: hiding a token (nn/inspect/ablation.h). Key idea: where a head looked and what that was
// good for are two things, so both stand side by side.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "nn/inspect/ablation.h"
#include "nn/io/json.h"
#include "nn/text/tokenizer.h"

namespace fledge {

/// The first of the drawn tokens that `word` begins in: for words the token itself, or the first of
/// several; else the token that has the word's first byte. None when the word was not drawn.
std::optional<std::size_t> where_drawn(const Tokenizer& tokenizer, const std::vector<Dim>& drawn,
                                       const std::string& word);

struct Why {
  struct Look {
    Dim place;
    double weight;
  };
  struct Head {
    Dim layer, head;
    std::vector<Look> most;  // three, the largest weight first; of equals the nearest to the guess
  };

  std::string word;
  Dim token = 0;          // that the step drew, the first of the word
  std::vector<Dim> read;  // what the model saw: place 0 … T − 1
  std::vector<Head> heads;
  Ablation left_out;
};

/// read: the window of the decoder when it drew the token.
Why why_drawn(const LanguageModel& model, const std::string& word, std::vector<Dim> read,
              Dim token);

/// For people: the probability, a line a head, a line a token that was read.
std::string why_text(const Why& why, const Tokenizer& tokenizer);
/// For programs: {"word":…,"token":…,"probability":…,"read":[…],"heads":[…],"left_out":[…]}.
void write_why(JsonWriter& json, const Why& why, const Tokenizer& tokenizer);

}  // namespace fledge
