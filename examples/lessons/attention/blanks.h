// The blanks that a model of the built-in text must fill: "birds sometimes walk __" with slowly,
// "but birds are good at __" with flying, and the same for eleven other animals.
//
// Used by the lessons that compare models: how large they are, and what they are made of.
#pragma once

#include <iterator>
#include <sstream>
#include <string>
#include <vector>

#include "engine/autograd.h"
#include "examples/birds/text_model.h"
#include "examples/support/built_in_text.h"
#include "nn/generate/sampler.h"

namespace fledge::blanks {

struct Blank {
  std::string prompt, word;
};
inline const Blank slowly{"birds sometimes walk", "slowly"};
inline const Blank flying{"but birds are good at", "flying"};

/// The next word after each prompt that names an animal, at its first place in the text: 30 blanks
/// or fewer, slowly and flying among them.
inline std::vector<Blank> of_all_animals() {
  std::vector<Blank> found;
  std::istringstream text{std::string(support::built_in_text())};
  for (std::string line; std::getline(text, line);) {
    std::istringstream words(line);
    const std::vector<std::string> w{std::istream_iterator<std::string>(words), {}};
    Blank blank;
    if (w[1] == "sometimes") blank = {w[0] + " sometimes walk", w[3]};
    if (w[2] == "are") blank = {"but " + w[1] + " are good at", w[5]};
    if (!blank.word.empty() && (found.empty() || found.back().prompt != blank.prompt))
      found.push_back(blank);
  }
  return found;
}

/// ln p of the word, in nats.
inline double log_probability(const LanguageModel& model, const Corpus& text, const Blank& blank) {
  const NoGrad no_grad;
  const Tensor p = log_softmax(model(birds::beginning_row(text, blank.prompt)));  // (1, T, V)
  const Dim word = text.tokenizer.find(blank.word).value();
  return value_of(p.value().at({0, p.dim(1) - 1, word}));
}

/// The weights that the last word of the prompt gives to the line end and to each word; of head 1.
inline std::vector<double> last_row(const LanguageModel& model, const Corpus& text,
                                    const std::string& prompt) {
  const NoGrad no_grad;
  const Tensor A = model.forward_with_weights(birds::beginning_row(text, prompt)).weights[0];
  return to_vector(slice(A, 2, A.dim(2) - 1, A.dim(2)).value());
}

/// Whether the word is the likeliest one.
inline bool is_filled(const LanguageModel& model, const Corpus& text, const Blank& blank) {
  return birds::complete(model, text, blank.prompt).next == blank.word;
}

}  // namespace fledge::blanks
