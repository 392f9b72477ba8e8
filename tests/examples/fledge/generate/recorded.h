// What the model computed while `fledge generate` wrote a text, computed again place by place.
#pragma once

#include "engine/autograd.h"
#include "examples/fledge/attention/attention_weights.h"
#include "nn/gpt/folder.h"
#include "nn/text/corpus.h"
#include "tests/examples/fledge/models.h"

namespace testing {

using fledge::Dim;

/// Reads a text as the model did when it wrote it, and notes the weights of each part it reads.
class Recorded {
 public:
  explicit Recorded(const fledge::LanguageModel& model) : model_(model) { restart(); }

  void read(const std::vector<Dim>& ids) {
    if (static_cast<Dim>(window.size() + ids.size()) > model_.sizes.context) {
      const Dim kept = std::max<Dim>(1, model_.sizes.context / 2);
      std::vector<Dim> last(window.end() - (kept - 1), window.end());
      last.insert(last.end(), ids.begin(), ids.end());
      restart();
      return read(last);
    }
    const fledge::NoGrad no_grad;
    const auto first = static_cast<Dim>(window.size()), count = static_cast<Dim>(ids.size());
    window.insert(window.end(), ids.begin(), ids.end());
    fledge::Tensor x =
        embedding(model_.wte.weight, model_.wpe.weight, fledge::Indices({count}, ids), first);
    for (std::size_t layer = 0; layer < model_.h.size(); ++layer) {
      const fledge::Block& block = model_.h[layer];
      const fledge::Tensor qkv = block.attn.c_attn(block.ln_1(x));
      x = block(x, caches_[layer]);
      const fledge::Array weights =
          cached_attention_weights(qkv.value(), block.attn.heads, caches_[layer]);
      for (Dim t = 0; t < count; ++t) rows_[layer].emplace_back(weights, t);
    }
  }
  double weight(std::size_t layer, Dim head, std::size_t place, std::size_t key) const {
    const auto& [weights, t] = rows_[layer][place];
    const auto j = static_cast<Dim>(key);
    return j < weights.dim(2) ? fledge::value_of(weights.at({head, t, j})) : 0;
  }
  fledge::AttentionWeights attention(const fledge::Tokenizer& tokenizer) const {
    const auto T = static_cast<Dim>(window.size());
    std::vector<fledge::Array> layers;
    for (std::size_t layer = 0; layer < rows_.size(); ++layer) {
      std::vector<double> weights;
      for (Dim head = 0; head < model_.sizes.heads; ++head)
        for (std::size_t i = 0; i < window.size(); ++i)
          for (std::size_t j = 0; j < window.size(); ++j)
            weights.push_back(weight(layer, head, i, j));
      layers.push_back(fledge::Array({model_.sizes.heads, T, T}, weights));
    }
    return {window, layers, tokenizer};
  }
  std::vector<Dim> window;

 private:
  void restart() {
    window.clear();
    caches_.assign(model_.h.size(), {});
    rows_.assign(model_.h.size(), {});
  }
  fledge::LanguageModel model_;
  std::vector<fledge::KeyValueCache> caches_;
  std::vector<std::vector<std::pair<fledge::Array, Dim>>> rows_;  // of each layer and place
};

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

/// What the model computed to draw the last token of this call's text.
struct LastPass {
  Words line;
  Recorded recorded;
  fledge::AttentionWeights attention;
  int begin = 0;  // how many tokens of the text came before the window
};
inline LastPass last_pass(const std::string& run, int count) {
  Words line{run, "the ", "--tokens-out", std::to_string(count)};
  const std::string written = "the " + read_line(text(line + Words{"--json"}))["text"].string();
  const std::vector<Dim> ids = characters().encode(written);
  REQUIRE(ids.size() == 4 + static_cast<std::size_t>(count));
  Recorded recorded(fledge::read_model(run).model);
  recorded.read({ids.begin(), ids.begin() + 4});
  for (std::size_t t = 4; t + 1 < ids.size(); ++t) recorded.read({ids[t]});
  fledge::AttentionWeights attention = recorded.attention(characters());
  const int begin = 3 + count - static_cast<int>(recorded.window.size());
  attention.begin = begin;
  return {line, recorded, attention, begin};
}

}  // namespace testing
