#include "examples/birds/story.h"

namespace fledge::birds {

namespace {

const std::vector<std::string> prompts = {"birds sometimes", "but birds are good at"};

report::ModelState state_of(const LanguageModel& model, const Text& text) {
  report::ModelState state;
  state.vocabulary = model.sizes.vocabulary;
  state.context = model.sizes.context;
  state.layers = model.sizes.layers;
  state.heads = model.sizes.heads;
  state.width = model.sizes.width;
  state.hidden = model.sizes.hidden;
  for (const Tensor& p : parameters(model)) state.parameters.push_back(to_vector(p.value()));
  const Batch batch = text.batch_of(
      {"birds sometimes walk slowly near water .", "but birds are good at flying over roofs ."});
  state.batch = batch.ids.shape()[0];
  state.time = batch.ids.shape()[1];
  for (Dim i = 0; i < batch.ids.size(); ++i) {
    state.ids.push_back(batch.ids[i]);
    state.targets.push_back(batch.targets[i]);
  }
  return state;
}

}  // namespace

TextStory tell_text(std::uint64_t seed) {
  const Text text;
  const LanguageModel model = new_model(text, seed);
  TextStory story;
  story.sentence_count = text.sentence_count();
  story.vocabulary = text.vocabulary().size();
  story.parameters = count_parameters(model);

  const std::string& sentence = watches()[0].sentence;
  for (const Watch& pair : watches()) story.watched.push_back({pair, watch(model, text, pair), {}});
  for (const std::string& prompt : prompts)
    story.completed.push_back({prompt, complete(model, text, prompt), {}});
  story.pattern_before = attention_pattern(model, text, sentence);

  story.training = train(model, text, seed);

  for (TextStory::Seen& seen : story.watched) seen.after = watch(model, text, seen.pair);
  for (TextStory::Completed& c : story.completed) c.after = complete(model, text, c.prompt);
  story.pattern_after = attention_pattern(model, text, sentence);
  story.state = state_of(model, text);
  return story;
}

}  // namespace fledge::birds
