#include <algorithm>
#include <cmath>

#include "examples/birds/story.h"
#include "nn/inspect/ngram_losses.h"
#include "nn/inspect/probes.h"
#include "nn/text/batches.h"

namespace fledge::birds {

namespace {

// A beginning, and the word that always follows it in the text.
struct Blank {
  std::string prompt, next;
};
const std::vector<Blank> blanks = {{"birds sometimes", "walk"},
                                   {"birds sometimes walk", "slowly"},
                                   {"but birds are good at", "flying"}};
constexpr Dim evaluation_batch = 12;  // does not change the result
// Of one length, so that their batch has rows.
constexpr std::string_view checked_sentences =
    "birds sometimes walk slowly near water .\nbut birds are good at flying .\n";

report::ModelState state_of(const LanguageModel& model, const Corpus& corpus) {
  std::vector<std::vector<double>> weights;
  for (const Tensor& p : parameters(model)) weights.push_back(to_vector(p.value()));
  const TokenText text =
      read_corpus(checked_sentences, {.reading = Reading::lines, .valid = 0}, corpus.tokenizer)
          .train;
  const Batch batch = batch_of(text, evaluation_windows(text, model.sizes.context));
  const LanguageModelSizes& sizes = model.sizes;
  return {sizes.vocabulary, sizes.context, sizes.layers, sizes.heads,  sizes.width,
          sizes.hidden,     weights,       batch.inputs, batch.targets};
}

Effect effect_of(const LanguageModel& model, const Corpus& corpus, const Watch& pair) {
  const auto blank = std::find_if(blanks.begin(), blanks.end(),
                                  [&](const Blank& b) { return b.prompt == pair.sentence; });
  require<ValueError>(blank != blanks.end(), "effect_of", "no blank is '", pair.sentence, "'");
  const std::vector<Dim> tokens = beginning(corpus, pair.sentence);
  const auto hidden =
      std::find(tokens.begin(), tokens.end(), corpus.tokenizer.encode(pair.looks_at).at(0));
  const Ablation found = ablate_tokens(model, tokens, corpus.tokenizer.encode(blank->next).at(0));
  const auto place = static_cast<std::size_t>(hidden - tokens.begin());
  return {blank->next, std::exp(found.log_p), std::exp(found.without.at(place))};
}

}  // namespace

TextStory tell_text(std::uint64_t seed) {
  const Corpus corpus = read_text();
  const LanguageModel model = new_model(corpus, seed);
  TextStory story;
  story.seed = seed;
  story.sentence_count = corpus.train.documents();
  story.vocabulary = corpus.tokenizer.size();
  story.parameters = count_parameters(model);
  story.loss_of_guessing = std::log(static_cast<double>(story.vocabulary));
  story.least_loss = least_loss(corpus.train);

  const std::string& sentence = watches()[0].sentence;
  for (const Watch& pair : watches())
    story.watched.push_back({pair, watch(model, corpus, pair), {}, {}});
  for (const Blank& blank : blanks)
    story.completed.push_back({blank.prompt, complete(model, corpus, blank.prompt), {}});
  story.pattern_before = attention_pattern(model, corpus, sentence);

  story.loss_before = mean_loss(model, corpus.train, evaluation_batch);
  story.losses = train(model, corpus, seed);
  story.loss_after = mean_loss(model, corpus.train, evaluation_batch);

  for (TextStory::Seen& seen : story.watched) {
    seen.after = watch(model, corpus, seen.pair);
    seen.effect = effect_of(model, corpus, seen.pair);
  }
  for (TextStory::Completed& c : story.completed) c.after = complete(model, corpus, c.prompt);
  story.pattern_after = attention_pattern(model, corpus, sentence);
  story.state = state_of(model, corpus);
  return story;
}

}  // namespace fledge::birds
