// One call of `fledge train`: a complete run, and the loop over its steps.
//
// Key idea: a run is a stream of events (events.h). The loop takes steps; what follows a step is
// computed first and then recorded as a whole, so Ctrl-C may come at any time: before that nothing of
// it has been recorded, and after it the step is done. Read next: run.cpp.
#pragma once

#include <memory>

#include "examples/fledge/train/page_recorder.h"
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

  TrainConfig config;
  std::unique_ptr<Screen> screen;
  Corpus corpus;
  LanguageModel model;  // shares its parameters with the trainer
  Trainer trainer;
  Store store;
  std::vector<WordPair> pairs;         // of --watch
  std::vector<Probe> sentences;        // of --probe
  std::unique_ptr<PageRecorder> page;  // null: no snapshots
  std::vector<Observer> observers;
  std::string chosen;     // which options were chosen from the text
  Baselines baselines;    // counted before the first step
  bool is_saved = false;  // all steps are saved, and only the reports remain
};

/// Reads the text, makes or loads the model, and locks the folder. Throws InputError, FileError or
/// CommandError.
std::unique_ptr<Run> set_up(TrainConfig config);
/// Trains, and returns the exit status. Ctrl-C ends the program, with all steps saved.
int train(Run& run);

/// The tokens of a new run's text, made with the tokenizer of the model it begins with, if any. Sets
/// what follows from them: the vocabulary, and the options that are not given, which `chosen` says.
/// Throws CommandError when a step needs more memory than the machine has.
void require_memory(const TrainConfig& config);
Corpus new_corpus(TrainConfig& config, const std::string& text, const Tokenizer* tokenizer,
                  std::string& chosen);

/// --find-lr: trains the same new model for 60 steps with each of seven rates, from an eighth to eight
/// times the rate that is given or chosen from the text. Prints the losses on stdout as each rate is
/// done, and the rate with the lowest held-out loss (training loss, if nothing is held out). Saves
/// nothing. The same text and seed give the same numbers. Returns the exit status. Throws as set_up()
/// does.
int find_rate(TrainConfig config);

}  // namespace fledge::train
