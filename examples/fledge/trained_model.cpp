#include "examples/fledge/trained_model.h"

#include "examples/fledge/train/report.h"
#include "examples/fledge/train/source.h"
#include "examples/support/text.h"
#include "nn/models/model_folder.h"

namespace fledge {

TrainedModel load_trained(const std::string& folder) {
  train::RunConfig run = train::read_run_config(folder);
  const std::string path = folder + "/model.safetensors", weights = read_file(path);
  Rng rng(0);
  TrainedModel trained{LanguageModel(run.plan.sizes, rng), std::move(run), false};
  of_file(path, "it is not the model that config.json beside it describes",
          [&] { load_weights(trained.model, weights); });
  trained.lines = trained.run.plan.corpus.reading == Reading::lines;
  return trained;
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

Unusable TrainedModel::unknown(const UnknownSymbol& found, const std::string& name) const {
  const std::string kind = train::token_word(tokenizer().kind());
  std::string meant;
  if (tokenizer().kind() == Tokens::word)
    meant = support::closest(found.symbol, tokenizer().symbols());
  return {"the " + kind + " " + support::quoted(found.symbol) + " at byte " +
              std::to_string(found.at) + " of " + name + " was not in the training text",
          meant.empty() ? "the model knows " + std::to_string(tokenizer().size()) + " " + kind +
                              "s and no other"
                        : "nearest by spelling: " + support::quoted(meant)};
}

TokenText TrainedModel::encoded(const std::string& text, const std::string& name) const {
  if (text.empty()) throw Unusable(name + " is empty", "name another text");
  try {
    return read_corpus(text, {.reading = run.plan.corpus.reading, .valid = 0}, tokenizer()).train;
  } catch (const UnknownSymbol& error) {
    throw unknown(error, name);
  } catch (const ValueError& error) {
    throw Unusable(name + ": " + error.what(), "name another text");
  }
}

}  // namespace fledge
