#include <cmath>

#include "examples/birds/story.h"
#include "nn/text/batches.h"

namespace fledge::birds {

namespace {

const std::vector<std::string> prompts = {"birds sometimes", "but birds are good at"};
constexpr std::string_view checked_sentences =
    "birds sometimes walk slowly near water .\nbut birds are good at flying over roofs .\n";

report::ModelState state_of(const LanguageModel& model, const Corpus& corpus) {
  report::ModelState state;
  state.vocabulary = model.sizes.vocabulary;
  state.context = model.sizes.context;
  state.layers = model.sizes.layers;
  state.heads = model.sizes.heads;
  state.width = model.sizes.width;
  state.hidden = model.sizes.hidden;
  for (const Tensor& p : parameters(model)) state.parameters.push_back(to_vector(p.value()));
  const TokenText text =
      read_corpus(checked_sentences, {.reading = Reading::lines, .valid = 0}, corpus.tokenizer)
          .train;
  const Batch batch = batch_of(text, evaluation_windows(text, model.sizes.context));
  state.batch = batch.inputs.shape()[0];
  state.time = batch.inputs.shape()[1];
  for (Dim i = 0; i < batch.inputs.size(); ++i) {
    state.ids.push_back(batch.inputs[i]);
    state.targets.push_back(batch.targets[i]);
  }
  return state;
}

}  // namespace

TextStory tell_text(std::uint64_t seed) {
  const Corpus corpus = read_text();
  const LanguageModel model = new_model(corpus, seed);
  TextStory story;
  story.sentence_count = corpus.train.documents();
  story.vocabulary = corpus.tokenizer.size();
  story.parameters = count_parameters(model);
  story.loss_of_guessing = std::log(static_cast<double>(story.vocabulary));

  const std::string& sentence = watches()[0].sentence;
  for (const Watch& pair : watches())
    story.watched.push_back({pair, watch(model, corpus, pair), {}});
  for (const std::string& prompt : prompts)
    story.completed.push_back({prompt, complete(model, corpus, prompt), {}});
  story.pattern_before = attention_pattern(model, corpus, sentence);

  story.losses = train(model, corpus, seed);

  for (TextStory::Seen& seen : story.watched) seen.after = watch(model, corpus, seen.pair);
  for (TextStory::Completed& c : story.completed) c.after = complete(model, corpus, c.prompt);
  story.pattern_after = attention_pattern(model, corpus, sentence);
  story.state = state_of(model, corpus);
  return story;
}

}  // namespace fledge::birds
