// One call of `fledge train`: a complete run, and the loop over its steps.
//
// A run is a stream of events (events.h). The loop takes steps; what follows a step is
// computed first and then recorded as a whole, so Ctrl-C may come at any time: before that nothing of
// it has been recorded, and after it the step is done.
#pragma once

#include <memory>

#include "examples/fledge/train/screen.h"
#include "examples/fledge/train/store.h"

namespace fledge::train {

struct Run {
  Run(TrainConfig of_call, const RunConfig& settings, Corpus text, LanguageModel made,
      std::optional<ResumedRun> resumed, std::unique_ptr<Screen> shown);
  Run(const Run&) = delete;  // its members refer to each other
  Run& operator=(const Run&) = delete;

  void emit(const Event& event) const {
    for (const Observer& observe : observers) observe(event);
  }
  bool holds_out() const { return corpus.valid.size() > 1; }
  /// Whether a sample is shown, printed or kept.
  bool shows_samples() const { return !config.quiet || config.json || store.has_folder(); }
  /// The mean loss of the training text. The losses of the steps are those of models on the way,
  /// with dropout: beside the held-out loss stands the loss of the same model.
  double training_loss() const {
    return trainer.loss_on(corpus.train, config.training.batch, training_windows);
  }

  TrainConfig config;
  std::unique_ptr<Screen> screen;
  Corpus corpus;
  LanguageModel model;  // shares its parameters with the trainer
  Trainer trainer;
  Store store;
  std::vector<WordPair> pairs;          // of --watch
  std::string page_text;                // the text, with --page
  std::vector<std::int64_t> snapshots;  // the steps whose weights are events of the run, for a page
  std::vector<Observer> observers;
  std::string chosen;     // which options were chosen from the text
  Baselines baselines;    // counted before the first step
  bool is_saved = false;  // all steps are saved, and only the reports remain
};

// What a run says: report.cpp.

/// Before the first step: the text, the model, what guessing and counting score, a proof that the
/// model is causal, and a forecast.
void report_start(Run& run);
/// After the last step, about the model that is kept, which may be of an earlier step.
void report_result(Run& run);
/// The same for --resume of a run that has no step left.
void report_again(Run& run);
/// The end of a run that was interrupted or diverged.
void report_stop(Run& run, const std::string& status);

}  // namespace fledge::train
