#include "examples/fledge/trained_model.h"

#include "examples/fledge/train/source.h"
#include "nn/models/model_folder.h"

namespace fledge {

TrainedModel load_trained(const std::string& path) {
  const Folder folder(path, train::run_files());
  std::string text;
  train::RunConfig run = train::read_run_config(folder, &text);
  try {
    SavedModel saved = read_model(folder);
    if (saved.config != text)  // another process has replaced the run in between
      run = train::run_config(saved.config);
    const bool lines = run.plan.corpus.reading == Reading::lines;
    return {std::move(saved.model), std::move(run), lines};
  } catch (const WrongFile& error) {
    throw Unusable(error.what(), "it is not the model that config.json beside it describes");
  }
}

TokenText TrainedModel::held_out() const {
  const std::string text = train::read_text(run.plan);
  train::require_same_text(run, text, train::name_of(run.plan));
  Corpus corpus = read_corpus(text, run.plan.corpus, tokenizer());
  if (corpus.valid.size() < 2)
    throw Unusable("nothing of " + train::name_of(run.plan) + " was held out",
                   "name another text: fledge eval DIR FILE");
  return std::move(corpus.valid);
}

}  // namespace fledge
