#include "examples/birds/text_model.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "engine/autograd.h"
#include "examples/birds/corpus.h"
#include "nn/inspect/probes.h"
#include "nn/optim/adamw.h"
#include "nn/optim/clip.h"

namespace fledge::birds {

Text::Text() {
  for (const std::string_view sentence : sentences()) {
    std::vector<Dim> ids;
    for (const std::string& word : split_words(sentence)) ids.push_back(vocabulary_.add(word));
    longest_ = std::max(longest_, static_cast<Dim>(ids.size()));
    sentences_.push_back(std::move(ids));
  }
}

Batch Text::batch(const std::vector<Dim>& which) const {
  std::vector<std::vector<Dim>> rows;
  for (const Dim i : which) rows.push_back(sentences_.at(static_cast<std::size_t>(i)));
  return padded(rows);
}

Batch Text::batch_of(const std::vector<std::string>& texts) const {
  std::vector<std::vector<Dim>> rows;
  for (const std::string& text : texts) {
    rows.push_back(vocabulary_.encode(text));
    require<ValueError>(
        std::find(sentences_.begin(), sentences_.end(), rows.back()) != sentences_.end(), "Text",
        "no sentence reads '", text, "'");
  }
  return padded(rows);
}

// Inputs are all words but the last, targets all but the first.
Batch Text::padded(const std::vector<std::vector<Dim>>& rows) const {
  std::size_t words = 0;
  for (const auto& row : rows) words = std::max(words, row.size());
  const Shape shape{static_cast<Dim>(rows.size()), static_cast<Dim>(words) - 1};
  std::vector<Dim> ids, targets;
  for (const auto& row : rows)
    for (std::size_t t = 0; t + 1 < words; ++t) {
      const bool inside = t + 1 < row.size();
      ids.push_back(inside ? row[t] : row.back());
      targets.push_back(inside ? row[t + 1] : no_target);
    }
  return {{shape, ids}, {shape, targets}};
}

LanguageModelSizes model_sizes(const Text& text) {
  return {.vocabulary = text.vocabulary().size(),
          .context = text.longest() - 1,
          .layers = 1,
          .heads = 1,
          .width = 16,
          .hidden = 32};
}

LanguageModel new_model(const Text& text, std::uint64_t seed) {
  Rng rng(seed);
  return {model_sizes(text), rng};
}

Training train(const LanguageModel& model, const Text& text, std::uint64_t seed) {
  constexpr Dim steps = 500, sentences_per_step = 12;
  constexpr double rate = 0.03;  // falls linearly to a tenth of itself
  const std::vector<Tensor> learning = parameters(model);
  AdamW adamw(learning, {.rate = rate});
  Rng data = Rng(seed).stream(1);

  Training training;
  training.loss_of_guessing = std::log(static_cast<double>(text.vocabulary().size()));
  std::vector<Dim> order(static_cast<std::size_t>(text.sentence_count()));
  std::iota(order.begin(), order.end(), Dim{0});
  std::size_t next = order.size();
  for (Dim step = 0; step < steps; ++step) {
    std::vector<Dim> which;
    while (static_cast<Dim>(which.size()) < sentences_per_step) {
      if (next == order.size()) {
        data.shuffle(order);
        next = 0;
      }
      which.push_back(order[next++]);
    }
    const Batch batch = text.batch(which);
    adamw.zero_grad();
    const Tensor loss = cross_entropy(model(batch.ids), batch.targets, no_target);
    backward(loss);
    clip_gradients(learning, 1);
    adamw.options.rate = rate * (1 - 0.9 * static_cast<double>(step) / steps);
    adamw.step();
    training.losses.push_back(loss.item());
  }
  return training;
}

const std::vector<Watch>& watches() {
  static const std::vector<Watch> pairs = {
      {"birds sometimes walk", "walk", "birds"},
      {"birds sometimes walk", "walk", "sometimes"},
      {"but birds are good at", "at", "birds"},
      {"but birds are good at", "at", "good"},
  };
  return pairs;
}

namespace {

Indices one_row(const Text& text, const std::string& words) {
  const std::vector<Dim> ids = text.vocabulary().encode(words);
  return {{1, static_cast<Dim>(ids.size())}, ids};
}

Dim place_of(const std::string& word, const std::string& sentence) {
  const std::vector<std::string> words = split_words(sentence);
  const auto at = std::find(words.begin(), words.end(), word);
  require<ValueError>(at != words.end(), "watch", "'", word, "' is not in '", sentence, "'");
  return at - words.begin();
}

// (T, T): the weights (1, H, T, T) of one sentence, mean of the heads.
Tensor pattern(const Tensor& weights) {
  return reshape(mean(weights, {1}), {weights.dim(-2), weights.dim(-1)});
}

}  // namespace

std::vector<double> attention_pattern(const LanguageModel& model, const Text& text,
                                      const std::string& sentence) {
  NoGrad no_grad;
  return to_vector(pattern(model.look(one_row(text, sentence)).weights[0]).value());
}

Watched watch(const LanguageModel& model, const Text& text, const Watch& pair) {
  const Dim word = place_of(pair.word, pair.sentence);
  const Dim looks_at = place_of(pair.looks_at, pair.sentence);
  const FirstLook look = first_look(model, one_row(text, pair.sentence));
  return {look.attention(0, word, looks_at), look.association(0, word, looks_at)};
}

Completion complete(const LanguageModel& model, const Text& text, const std::string& prompt) {
  NoGrad no_grad;
  const Tensor logits = model(one_row(text, prompt));  // (1, T, V)
  const Tensor last = slice(logits, 1, logits.dim(1) - 1, logits.dim(1));
  const std::vector<double> p = to_vector(softmax(last).value());
  const auto best = std::max_element(p.begin(), p.end());
  return {text.vocabulary().word(best - p.begin()), *best};
}

}  // namespace fledge::birds
