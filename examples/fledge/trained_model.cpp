#include "examples/fledge/trained_model.h"

#include <algorithm>
#include <cstdlib>

#include "examples/fledge/train/source.h"
#include "examples/support/text.h"
#include "nn/gpt/folder.h"
#include "nn/train/trainer.h"

namespace fledge {

TrainedModel load_trained(const std::string& path) {
  const Folder folder(path, train::run_files());
  std::optional<train::RunConfig> run;
  const auto reader = [&](std::string text) {
    return support::with_advice(
        train::config_advice,
        [&] {
          ModelConfig config = read_config(std::move(text));
          run = train::run_config(config);
          return config;
        },
        support::quoted(folder.file("config.json")));
  };
  try {
    SavedModel saved = read_model(folder, reader);
    const bool lines = run->settings.corpus.reading == Reading::lines;
    const std::int64_t step = std::strtoll(saved.step.c_str(), nullptr, 10);
    return {std::move(saved.model), std::move(*run), lines, std::max<std::int64_t>(step, 0)};
  } catch (const FileError& error) {
    const bool can_resume = folder.has("config.json") && folder.has("state.safetensors");
    if (folder.has("model.safetensors") || !can_resume) throw;
    throw support::InputError(
        error.what(),
        "make it again from the checkpoint: fledge train --resume " + support::shell_word(path));
  } catch (const FormatError& error) {
    throw support::InputError(
        error.what(),
        "restore it, or move it away and run: fledge train --resume " + support::shell_word(path));
  }
}

Dim TrainedModel::first_token() const { return train::first_token(tokenizer()); }

TokenText TrainedModel::held_out() const {
  const std::string text = train::read_text(run.settings);
  train::require_same_text(run, text, train::name_of(run.settings));
  Corpus corpus = read_corpus(text, run.settings.corpus, tokenizer());
  if (corpus.valid.size() < 2)
    throw support::InputError("nothing of " + train::name_of(run.settings) + " was held out",
                              "name another text: fledge eval DIR FILE");
  return std::move(corpus.valid);
}

void refuse_numbers(const std::string& folder, const LanguageModel& model, std::vector<Dim> ids) {
  const auto named = named_parameters(model);
  std::vector<std::pair<std::string, Array>> weights;
  for (const auto& [name, tensor] : named) weights.emplace_back(name, tensor.value());
  ids.resize(std::min(ids.size(), static_cast<std::size_t>(model.sizes.context)));
  const std::string first = first_not_finite(named, [&] {
    model({{1, static_cast<Dim>(ids.size())}, ids});
  });
  throw support::InputError(
      support::quoted(folder + "/model.safetensors") +
          ": its scores must be numbers, and its weights are too large for that: " +
          largest_number(weights) + (first.empty() ? "" : "; they overflow " + first),
      "such weights come from a run that diverged: train again, with a smaller --lr");
}

}  // namespace fledge
