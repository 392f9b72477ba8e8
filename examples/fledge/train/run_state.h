// The state of a run: its notes, the model that is kept, and the states that it can go back to, in
// memory and in its folder.
//
// Key idea: a checkpoint and the model that belongs to it are made together and written together.
// Read next: run_state.cpp.
#pragma once

#include <chrono>
#include <cmath>
#include <functional>
#include <optional>

#include "examples/fledge/train/reporter.h"
#include "examples/fledge/train/run_folder.h"

namespace fledge::train {

/// Throws FormatError if these bytes of state.safetensors are too few for a model of these sizes. It
/// is called before such a model is built.
void require_model_in_state(const std::string& state, const LanguageModelSizes& sizes);
/// The bytes of state.safetensors; none if it is missing. Throws InputError for a file that cannot
/// belong to a model of these sizes.
std::optional<std::string> read_state(const RunFolder& folder, const LanguageModelSizes& sizes);

class RunState {
 public:
  /// The state before the first step. The arguments must outlive it, except `run`.
  RunState(const TrainConfig& config, const RunConfig& run, const Corpus& corpus, Trainer& trainer,
           Reporter& report);

  /// Creates the folder of a new run and writes the checkpoint of step 0. Throws FolderExists for a
  /// place that is not unused.
  void begin(const RunConfig& run, Place place);
  /// Sets model and trainer to what the folder has. Changes nothing in the folder.
  void load(RunFolder folder, const std::optional<std::string>& state);
  /// Goes on in the folder that was loaded: mends what is missing in it, cuts its metrics back to the
  /// checkpoint, and saves settings that have changed.
  void go_on();

  const RunNotes& notes() const { return notes_; }
  /// The events of the run so far, as metrics.jsonl has them; "" without a folder.
  std::string events() const { return folder_ ? folder_->bytes("metrics.jsonl").value_or("") : ""; }
  /// Those of them that a loaded run keeps: what follows its checkpoint happens again.
  std::string events_of_checkpoint() const;
  bool has_folder() const { return folder_.has_value(); }
  std::int64_t step() const { return trainer_->steps_done(); }
  /// The step of the checkpoint on disk.
  std::int64_t saved_step() const { return saved_step_; }
  /// The step of the model that is kept: of the best evaluation, or else the last.
  std::int64_t kept_step() const { return best_.empty() ? step() : notes_.best_step; }
  bool has_best() const { return !best_.empty(); }
  bool is_out_of_patience() const;
  bool is_over() const;
  bool is_evaluated(std::int64_t step) const;
  /// Whether the held-out text has two tokens or more, so that its loss exists.
  bool holds_out() const { return corpus_->valid.size() > 1; }
  /// The mean loss of the held-out text, over evenly spaced batches of its windows.
  double evaluate() const;
  /// The same of the training text. The losses of the steps are those of models on the way, with
  /// dropout: beside the held-out loss stands the loss of the same model.
  double evaluate_training() const;

  /// Whether a sample is drawn after this step. After the last step, the final report draws some.
  bool is_sampled(std::int64_t step) const;
  /// Keeps the state before the next step if there is a folder and that step is the first, is
  /// evaluated or is sampled: only then can an interrupt come between step() and record_step().
  /// undo_step() restores the state in that case.
  void remember_step();
  void undo_step();
  /// Records a step: the smoothed loss (it decides about overfitting and is not shown), its
  /// evaluation and its row of metrics.
  void record_step(const Metrics& row, bool is_logged);
  /// Whether metrics.jsonl has no event yet.
  bool has_no_event() const { return notes_.jsonl_bytes == 0; }
  /// Whether metrics.jsonl has the end of the run. Then it takes no more events.
  bool has_end() const { return folder_ && folder_->has_end(); }
  /// Appends a line to metrics.jsonl.
  void append_event(const std::string& line);
  /// Writes the last events to the disk.
  void sync_events();
  /// Saves the model and the state if the evaluation of this step was the best.
  void save_if_best(std::int64_t step);

  /// Throws Diverged if the loss of the model is not finite: such a model must not be saved.
  double finite_loss() const;
  void save();
  bool is_save_due() const;
  /// Restarts the save timer. Makes the resumed state the rollback checkpoint if its next loss or
  /// best loss is below ln V.
  void remember_resumed();
  /// Writes the rollback checkpoint: with held-out text that of the best evaluation (or the resumed
  /// state); without it, the last saved state with a loss below ln V; if there is none, the
  /// checkpoint of step 0. Later states may diverge again whatever the learning rate is.
  void roll_back();
  /// Sets the model's weights to those of the kept model.
  void use_kept_model() const { set_weights(trainer_->model(), best_); }
  /// Unlocks the folder.
  void close() { folder_.reset(); }

 private:
  void warn(const std::string& text) const { report_->problem(text); }
  bool load_state(const std::optional<std::string>& state);
  bool load_best();
  void save_changes();
  void record_evaluation(double loss);
  Checkpoint initial_checkpoint() const;
  Checkpoint checkpoint();
  void write(const Checkpoint& now);
  /// The loss of a model that gives every token the same probability: ln V.
  double guessing_loss() const { return std::log(static_cast<double>(config_->sizes.vocabulary)); }

  using Clock = std::chrono::steady_clock;
  struct Before {
    std::vector<Array> weights;
    Trainer::State state;
  };

  const TrainConfig* config_;
  const Corpus* corpus_;
  Trainer* trainer_;
  Reporter* report_;
  std::optional<RunFolder> folder_;
  RunNotes notes_;
  std::vector<Array> best_;       // weights of the best evaluation, in the order of parameters()
  ModelFile kept_;                // the kept model, as the bytes of model.safetensors
  Checkpoint rollback_;           // written if the run diverges; empty: the checkpoint of step 0
  std::optional<Before> before_;  // the state before the current step, until that step is recorded
  std::int64_t saved_step_ = 0;
  bool lacks_state_ = false, has_new_model_ = false;  // in the folder that was loaded
  Clock::time_point saved_at_ = Clock::now();
};

}  // namespace fledge::train
