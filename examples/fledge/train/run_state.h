// The state of a run: its notes, the model that is kept, and the states that it can go back to, in
// memory and in its folder. Read next: run_state.cpp.
#pragma once

#include <chrono>
#include <cmath>
#include <functional>
#include <optional>

#include "examples/fledge/train/reporter.h"
#include "examples/fledge/train/run_folder.h"

namespace fledge::train {

class RunState {
 public:
  /// The state before the first step. The arguments must outlive it, except `run`.
  RunState(const TrainConfig& config, const RunConfig& run, const Corpus& corpus, Trainer& trainer,
           Reporter& report);

  /// Creates the folder of a new run and saves the state of step 0. Throws InputError if no command
  /// could read it again, FolderExists for a place that is not unused.
  void begin(Place place);
  /// Sets model and trainer to what the folder has. Changes nothing in the folder. Throws InputError
  /// for a file that is damaged or of another model, for weights whose loss is not finite, and
  /// FileError for a log that is no regular file.
  void load(RunFolder folder);
  /// Goes on in the folder that was loaded: cuts its log back to the saved step, warns if it is too
  /// short, and saves the run if its settings have changed.
  void go_on();

  const RunNotes& notes() const { return notes_; }
  /// The events of the run so far, as its log has them; "" without a folder.
  std::string events() const { return folder_ ? folder_->log() : ""; }
  /// Those of them that a loaded run keeps: what follows its last save happens again.
  const std::string& kept_events() const { return kept_events_; }
  bool has_folder() const { return folder_.has_value(); }
  std::int64_t step() const { return trainer_->steps_done(); }
  /// The step of the checkpoint on disk.
  std::int64_t saved_step() const { return saved_step_; }
  /// The step of the model that is kept: of the best evaluation, or else the last.
  std::int64_t kept_step() const { return best_.empty() ? step() : notes_.best_step; }
  bool has_best() const { return !best_.empty(); }
  bool is_out_of_patience() const { return train::is_out_of_patience(*config_, notes_.since_best); }
  bool is_over() const { return train::is_over(*config_, step(), notes_.since_best); }
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
  /// Records a step: its evaluation, and the smoothed loss (it decides about overfitting and is not
  /// shown).
  void record_step(const Metrics& row);
  /// Whether the log had no event when this call began.
  bool has_no_event() const { return kept_events_.empty(); }
  /// Whether the log has the end of the run. Then it takes no more events.
  bool has_end() const { return has_end_; }
  /// Appends a line to the log.
  void append_event(const std::string& line);
  /// Writes the last events to the disk.
  void sync_events();
  /// Saves the model and the state if the evaluation of this step was the best.
  void save_if_best(std::int64_t step);

  /// Throws Diverged if the loss of the model is not finite: such a model must not be saved.
  double finite_loss() const;
  void save();
  bool is_save_due() const;
  /// Saves the state to go back to: with held-out text that of the best evaluation (or the resumed
  /// state, if its next loss or best loss is below ln V); without it, the last saved state with a loss below ln V; if there is none, that of step
  /// 0. Later states may diverge again whatever the learning rate is.
  void roll_back();
  /// Sets the model's weights to those of the kept model.
  void use_kept_model() const { set_weights(trainer_->model(), best_); }
  /// Unlocks the folder.
  void close() { folder_.reset(); }

 private:
  /// The bytes of run.safetensors after a step.
  struct Save {
    std::string bytes;
    std::int64_t step = 0;
  };
  void record_evaluation(double loss);
  Save initial_save() const;
  Save this_save();
  void write(const Save& now);
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
  std::string settings_;  // the text of config.json
  std::optional<RunFolder> folder_;
  RunNotes notes_;
  std::vector<Array> best_;       // weights of the best evaluation, in the order of parameters()
  std::optional<Save> rollback_;  // written if the run diverges
  std::optional<Before> before_;  // the state before the current step, until that step is recorded
  std::string kept_events_;       // of the run that was loaded
  double loaded_loss_ = infinity;
  bool has_end_ = false;
  std::int64_t saved_step_ = 0;
  Clock::time_point saved_at_ = Clock::now();
};

}  // namespace fledge::train
