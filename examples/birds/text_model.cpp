#include "examples/birds/text_model.h"

#include <algorithm>

#include "engine/autograd.h"
#include "examples/support/built_in_text.h"
#include "nn/generate/sampler.h"
#include "nn/inspect/probes.h"

namespace fledge::birds {

Corpus read_text() { return read_corpus(support::built_in_text(), reading_options); }

std::vector<Dim> beginning(const Corpus& corpus, const std::string& words) {
  return corpus.tokenizer.encode("\n" + words);
}

Indices beginning_row(const Corpus& corpus, const std::string& words) {
  const std::vector<Dim> tokens = beginning(corpus, words);
  return {{1, static_cast<Dim>(tokens.size())}, tokens};
}

LanguageModelSizes model_sizes(const Corpus& corpus) {
  return {.vocabulary = corpus.tokenizer.size(),
          .context = 10,  // a line end and the 9 words of the longest sentence
          .layers = 1,
          .heads = 1,
          .width = 16,
          .hidden = 32};
}

LanguageModel new_model(const Corpus& corpus, std::uint64_t seed, const Recipe& recipe) {
  Rng rng(seed);
  LanguageModelSizes sizes = model_sizes(corpus);
  sizes.recipe = recipe;
  return {sizes, rng};
}

// With these settings walk gives birds a weight of 0.885 after training, mean of 100 seeds. Without
// the warm-up it is 0.86 (40 seeds).
TrainerOptions training_options(std::uint64_t seed) {
  return {.batch = 12,
          .schedule = {.rate = 0.04, .warmup = 100, .steps = training_steps},
          .decay = 0.01,
          .beta2 = 0.999,
          .seed = seed};
}

std::vector<double> train(const LanguageModel& model, const Corpus& corpus, std::uint64_t seed) {
  Trainer trainer(model, corpus.train, training_options(seed));
  std::vector<double> losses;
  while (trainer.steps_done() < training_steps) losses.push_back(trainer.step().loss);
  return losses;
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

Watched watch(const LanguageModel& model, const Corpus& corpus, const Watch& pair) {
  const std::vector<Dim> tokens = beginning(corpus, pair.sentence);
  const auto place_of = [&](const std::string& word) {
    const auto token = corpus.tokenizer.find(word);
    const auto at = token ? std::find(tokens.begin(), tokens.end(), *token) : tokens.end();
    require<ValueError>(at != tokens.end(), "watch", "'", word, "' is not in '", pair.sentence,
                        "'");
    return at - tokens.begin();
  };
  const Dim word = place_of(pair.word), looks_at = place_of(pair.looks_at);
  const FirstLook look = first_look(model, beginning_row(corpus, pair.sentence));
  return {look.attention(0, word, looks_at), look.association(0, word, looks_at)};
}

std::vector<double> attention_pattern(const LanguageModel& model, const Corpus& corpus,
                                      const std::string& sentence) {
  const NoGrad no_grad;
  const FirstLook look = first_look(model, beginning_row(corpus, sentence));
  return to_vector(mean(look.weights, {1}).value());
}

Completion complete(const LanguageModel& model, const Corpus& corpus, const std::string& words) {
  const Choice best = most_likely(Decoder(model).read(beginning(corpus, words)), 1).at(0);
  return {corpus.tokenizer.symbols().at(static_cast<std::size_t>(best.token)), best.probability};
}

}  // namespace fledge::birds
