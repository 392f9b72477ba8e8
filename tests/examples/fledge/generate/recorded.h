// The attention of the pass that drew a token of `fledge generate`, computed again by a decoder.
#pragma once

#include "examples/fledge/attention/attention_weights.h"
#include "examples/fledge/trained_model.h"
#include "nn/gpt/decoder.h"
#include "nn/text/corpus.h"
#include "tests/examples/fledge/models.h"

namespace testing {

using fledge::Dim;

/// Two layers of two heads, of characters; longer than a map.
inline std::string deep_model() {
  static const Desk desk;
  static const bool made = [] {
    const Result result = fledge_says({"train", desk.poems(), "-o", desk / "run", "-q", "--layers",
                                       "2", "--heads", "2", "--width", "16", "--context", "40",
                                       "--batch", "2", "--steps", "5", "--lr", "0.03"});
    return result.status == 0;
  }();
  return made ? desk / "run" : "";
}

inline const fledge::Tokenizer& characters() {
  static const fledge::Corpus corpus = fledge::read_corpus(small_text(), {});
  return corpus.tokenizer;
}

/// The weights with which token number `at` was drawn, after a prompt of so many tokens.
inline fledge::AttentionWeights weights_before(const std::string& run, const std::vector<Dim>& ids,
                                               std::size_t prompt, std::size_t at) {
  const fledge::LanguageModel model = fledge::load_trained(run).model;
  fledge::Decoder decoder(model);
  decoder.read({ids.begin(), ids.begin() + static_cast<std::ptrdiff_t>(prompt)});
  for (std::size_t t = prompt; t < at; ++t) decoder.read({ids[t]});
  return attention_weights(decoder, characters());
}

/// What the model computed to draw the last token of this call's text.
struct LastPass {
  Words line;
  fledge::AttentionWeights attention;
  Dim begin = 0;  // how many tokens of the text came before the window
};
inline LastPass last_pass(const std::string& run, int count) {
  Words line{run, "the ", "--tokens-out", std::to_string(count)};
  const std::string written = "the " + read_line(text(line + Words{"--json"}))["text"].string();
  const std::vector<Dim> ids = characters().encode(written);
  REQUIRE(ids.size() == 4 + static_cast<std::size_t>(count));
  const fledge::AttentionWeights attention = weights_before(run, ids, 4, ids.size() - 1);
  return {line, attention, 3 + count - attention.size()};
}

}  // namespace testing
