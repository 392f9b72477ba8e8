// The sizes, the rate and the number of steps that a run has unless they are given: chosen from its
// text (nn/train/defaults.h).
//
// The choice counts operations, never seconds. So the same text gives the same model on
// any machine.
#include <algorithm>
#include <cmath>

#include "examples/fledge/train/report.h"
#include "examples/fledge/train/train_config.h"
#include "examples/support/text.h"
#include "nn/train/defaults.h"
#include "nn/train/step_cost.h"

namespace fledge::train {

using support::counted, support::formatted, support::thousands;

namespace {

double rate_for(const TrainConfig& config, const TrainingDefaults& row) {
  // A model that has learned is trained further with a tenth of the rate.
  return config.from.empty() ? row.rate : row.rate / 10;
}

}  // namespace

double rate_after_divergence(const TrainConfig& config, const Corpus& corpus) {
  const double chosen =
      config.texts.empty() ? rate_of_built_in_text : rate_for(config, defaults_for(corpus));
  const double rate = config.training.schedule.rate;
  return rate > chosen ? chosen : rate / 10;
}

std::string choose_for_text(TrainConfig& config, const Corpus& corpus) {
  TrainingDefaults row = defaults_for(corpus);
  row.rate = rate_for(config, row);
  TrainerOptions& training = config.training;
  CosineSchedule& schedule = training.schedule;
  std::string chosen;
  const auto chose = [&](const char* name, const std::string& what) {
    if (!config.given.contains(name)) chosen += (chosen.empty() ? "" : ", ") + what;
  };
  const auto is_given = [&](std::string_view name) {
    return config.given.contains("--" + std::string(name));
  };
  const bool by_passes = choose_settings(row, corpus, config.minutes * operations_of_minute,
                                         is_given, config.sizes, training);
  // After each twentieth of the steps, or less often: evaluations take at most a sixteenth of the work
  // of the steps between them. A step takes three times as long as reading its windows forward.
  const auto windows = [&](const TokenText& text, Dim most) {
    return std::min(most, text.size() / config.sizes.context + 1);
  };
  const double steps_of_evaluation = static_cast<double>(windows(corpus.valid, evaluated_windows) +
                                                         windows(corpus.train, training_windows)) /
                                     static_cast<double>(3 * training.batch * training.accumulate);
  config.choose("--eval-every", config.evaluate_every,
                std::max({schedule.steps / 20, std::int64_t{25},
                          static_cast<std::int64_t>(16 * steps_of_evaluation)}));
  if (config.corpus.valid > 0) config.choose("--patience", config.patience, 5);

  const std::string token = token_word(corpus.tokenizer.kind());
  chose("--layers", counted(config.sizes.layers, "layer"));
  chose("--heads", counted(config.sizes.heads, "head"));
  chose("--width", "width " + thousands(config.sizes.width));
  chose("--context", "context " + thousands(config.sizes.context));
  chose("--batch", "batch " + thousands(training.batch));
  chose("--lr", formatted("learning rate %g", schedule.rate));
  chose("--steps", counted(schedule.steps, "step"));
  if (chosen.empty()) return "";
  std::string text;
  if (corpus.train.size() < tiny_tokens)
    text =
        "The training text is very short: the model soon knows it by heart. 30 kB and more can be "
        "learned from.\n";
  text += "Chosen for " + counted(corpus.train.size(), "training " + token) + ": " + chosen + ".";
  if (config.given.contains("--steps")) return text;
  if (by_passes)
    return text + formatted(" These are %.0f passes over the text, the most that are chosen.",
                            row.most_passes);
  return text + formatted(" This is the work of %g ", config.minutes) +
         (config.minutes == 1 ? "minute" : "minutes") + " on two cores (--minutes).";
}

}  // namespace fledge::train
