#include "examples/fledge/trained_model.h"

#include "examples/fledge/train/source.h"
#include "nn/models/model_folder.h"

namespace fledge {

TrainedModel load_trained(const std::string& folder) {
  train::RunConfig run = train::read_run_config(read_file(folder + "/config.json"));
  const std::string weights = read_file(folder + "/model.safetensors");
  Rng rng(0);
  TrainedModel trained{LanguageModel(run.plan.sizes, rng), std::move(run), false};
  load_weights(trained.model, weights);
  trained.lines = trained.run.plan.corpus.reading == Reading::lines;
  return trained;
}

TokenText TrainedModel::held_out() const {
  const std::string text = train::read_text(run.plan);
  train::require_same_text(run, text, train::name_of(run.plan));
  Corpus corpus = read_corpus(text, run.plan.corpus, tokenizer());
  require<ValueError>(corpus.valid.size() > 1, "eval",
                      "nothing of the text was held out: name another text");
  return std::move(corpus.valid);
}

TokenText TrainedModel::encoded(const std::string& text) const {
  return read_corpus(text, {.reading = run.plan.corpus.reading, .valid = 0}, tokenizer()).train;
}

}  // namespace fledge
