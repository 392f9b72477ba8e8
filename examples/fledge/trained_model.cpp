#include "examples/fledge/trained_model.h"

#include <algorithm>
#include <cmath>

#include "engine/gradcheck/nan_detector.h"
#include "examples/fledge/train/source.h"
#include "examples/support/text.h"
#include "nn/gpt/folder.h"

namespace fledge {

TrainedModel load_trained(const std::string& path) {
  const Folder folder(path, train::run_files());
  std::optional<train::RunConfig> run;
  const auto reader = [&](std::string text) {
    return of_file(folder.file("config.json"), train::not_of_a_run, [&] {
      ModelConfig config = read_config(std::move(text));
      run = train::run_config(config);
      return config;
    });
  };
  try {
    SavedModel saved = read_model(folder, reader);
    const bool lines = run->settings.corpus.reading == Reading::lines;
    return {std::move(saved.model), std::move(*run), lines};
  } catch (const FormatError& error) {
    throw InputError(error.what(), "restore it, or move it away and run: fledge train --resume " +
                                       support::shell_word(path));
  }
}

TokenText TrainedModel::held_out() const {
  const std::string text = train::read_text(run.settings);
  train::require_same_text(run, text, train::name_of(run.settings));
  Corpus corpus = read_corpus(text, run.settings.corpus, tokenizer());
  if (corpus.valid.size() < 2)
    throw InputError("nothing of " + train::name_of(run.settings) + " was held out",
                     "name another text: fledge eval DIR FILE");
  return std::move(corpus.valid);
}

void refuse_numbers(const std::string& folder, const LanguageModel& model, std::vector<Dim> ids) {
  const auto named = named_parameters(model);
  std::string op;
  {
    ids.resize(std::min(ids.size(), static_cast<std::size_t>(model.sizes.context)));
    const NanDetector detector;
    model({{1, static_cast<Dim>(ids.size())}, ids});
    if (const auto& found = detector.finding()) {
      std::string names;
      for (const auto& [name, tensor] : named)
        for (const Node* input : found->inputs)
          if (tensor.node().get() == input) names += (names.empty() ? " with " : " and ") + name;
      op = "; they overflow first in '" + std::string(found->op) + "'" + names;
    }
  }
  std::string largest;
  double most = 0;
  for (const auto& [name, tensor] : named)
    for (Dim i = 0; i < tensor.size(); ++i)
      if (const double size = std::abs(value_of(tensor.value()[i])); size > most) {
        most = size;
        largest = name;
      }
  throw InputError(support::quoted(folder + "/model.safetensors") +
                       ": its scores must be numbers, and its weights are too large for that: " +
                       support::formatted("%.3g", most) + " in " + largest + op,
                   "such weights come from a run that diverged: train again, with a smaller --lr");
}

}  // namespace fledge
