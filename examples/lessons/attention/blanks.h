// The model of make run in lessons: trained with other sizes and seeds, and the blanks that it must
// fill: "birds sometimes walk __" with slowly, "but birds are good at __" with flying, and the same
// for eleven other animals.
#pragma once

#include "examples/birds/text_model.h"
#include "examples/lessons/vocabulary.h"
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
    const std::vector<std::string> w = words_of(line);
    Blank blank;
    if (w[1] == "sometimes") blank = {w[0] + " sometimes walk", w[3]};
    if (w[2] == "are") blank = {"but " + w[1] + " are good at", w[5]};
    if (!blank.word.empty() && (found.empty() || found.back().prompt != blank.prompt))
      found.push_back(blank);
  }
  return found;
}

/// The text of make run.
inline const Corpus& text() {
  static const Corpus corpus = birds::read_text();
  return corpus;
}

/// The model of make run after training, with this number of heads.
inline LanguageModel trained(const Corpus& corpus, std::uint64_t seed, Dim heads = 1) {
  LanguageModelSizes sizes = birds::model_sizes(corpus);
  sizes.heads = heads;
  Rng rng(seed);
  LanguageModel model(sizes, rng);
  birds::train(model, corpus, seed);
  return model;
}

/// Models of the seeds 1 … count.
inline std::vector<LanguageModel> models_of(const Corpus& corpus, int count) {
  std::vector<LanguageModel> models;
  while (std::ssize(models) < count) models.push_back(trained(corpus, models.size() + 1));
  return models;
}
/// Twenty models of the text of make run.
inline constexpr int seeds = 20;
inline const std::vector<LanguageModel>& models() {
  static const std::vector<LanguageModel> all = models_of(text(), seeds);
  return all;
}

/// The word of a token; of the line end these words.
inline std::string word_of(const Corpus& corpus, Dim token, const std::string& line_end = "\n") {
  const std::string word = corpus.tokenizer.symbols().at(static_cast<std::size_t>(token));
  return word == "\n" ? line_end : word;
}

/// ln p of the word, in nats.
inline double log_probability(const LanguageModel& model, const Corpus& corpus,
                              const Blank& blank) {
  const NoGrad no_grad;
  const Tensor p = log_softmax(model(birds::beginning_row(corpus, blank.prompt)));  // (1, T, V)
  const Dim word = corpus.tokenizer.find(blank.word).value();
  return value_of(p.value().at({0, p.dim(1) - 1, word}));
}

/// The last word of a prompt: its own vector, and the message, which attention adds to it. (1, C)
struct LastWord {
  Tensor own, message;
};
inline LastWord last_word(const LanguageModel& model, const Corpus& corpus,
                          const std::string& prompt) {
  const NoGrad no_grad;
  const std::vector<Dim> ids = birds::beginning(corpus, prompt);
  const Dim T = std::ssize(ids);
  const Tensor x = embedding(model.wte.weight, model.wpe.weight, {{T}, ids});  // word + position
  return {row(x, T - 1), row(model.h[0].attn(model.h[0].ln_1(x), causal()), T - 1)};
}

/// The weights that the last word of the prompt gives to the line end and to each word.
inline std::vector<double> last_row(const LanguageModel& model, const Corpus& corpus,
                                    const std::string& prompt) {
  const std::vector<double> rows = birds::attention_pattern(model, corpus, prompt);  // (T, T)
  return {rows.end() - std::ssize(birds::beginning(corpus, prompt)), rows.end()};
}

/// Whether the word is the likeliest one.
inline bool is_filled(const LanguageModel& model, const Corpus& corpus, const Blank& blank) {
  return birds::complete(model, corpus, blank.prompt).next == blank.word;
}

/// What models of this recipe do: means over the seeds 1 … count, and how many of them fill a blank.
struct Outcome {
  double loss = 0, to_birds = 0, to_itself = 0;  // nats a word of the text; weights of 'walk'
  int slowly = 0, flying = 0;
};
inline Outcome outcome(const Recipe& recipe, int count) {
  Outcome found;
  for (std::uint64_t seed = 1; seed <= static_cast<std::uint64_t>(count); ++seed) {
    const LanguageModel model = birds::new_model(text(), seed, recipe);
    birds::train(model, text(), seed);
    const auto weight = [&](const char* word) {
      return birds::watch(model, text(), {slowly.prompt, "walk", word}).attention;
    };
    found.loss += mean_loss(model, text().train, text().train.documents()) / count;
    found.to_birds += weight("birds") / count, found.to_itself += weight("walk") / count;
    found.slowly += is_filled(model, text(), slowly) ? 1 : 0;
    found.flying += is_filled(model, text(), flying) ? 1 : 0;
  }
  return found;
}

}  // namespace fledge::blanks
