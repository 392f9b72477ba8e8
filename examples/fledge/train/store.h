// A run in its folder, which is locked while the run lasts; the name of the folder, and what may be
// at its path. And what a run keeps while it lasts: its notes, the weights of the best step, the
// state to go back to when it diverges, and its log.
//
//   run.safetensors   the run: weights, moments, tokenizer, settings, notes (nn/train/checkpoint.h)
//   events.jsonl      its log: an object for each event: start, steps, evaluations, samples, …, end
//
// run.safetensors alone decides what the run is, and a save replaces it whole. Before each save the
// log is synced, and its size goes into the notes. So the log never lags behind. What lies beyond
// that size happened after the save: readers ignore it, and --resume cuts it off, because it happens
// again. The final report alone comes after the last save; if the run is over, it counts.
#pragma once

#include <chrono>
#include <cmath>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "examples/fledge/train/train_config.h"
#include "nn/io/folder.h"
#include "nn/train/checkpoint.h"

namespace fledge::train {

/// The names of a run's files.
inline constexpr const char *run_file = "run.safetensors", *log_file = "events.jsonl";
/// A run as its folder has it. The numbers are not read yet.
struct SavedRun {
  Checkpoint checkpoint;
  RunConfig config;
};
/// Checks run.safetensors. Throws InputError that names the file and what is wrong with it; for a
/// folder without this file, what it has instead.
SavedRun open_run(const Folder& folder);

/// The lines of a log in a folder that belong to the saved run. Throws InputError, also for a log
/// that is no regular file.
std::string saved_events(const Folder& folder);

/// The name of a run's folder when none was given: "poems-run" for "texts/poems.txt", "text-run"
/// for standard input. It has no control characters, and begins with neither a dot nor a hyphen.
std::string run_name(const std::string& text_path);
/// The first of poems-run, poems-run-2, poems-run-3, … that does not exist.
std::string free_name(const std::string& name);

/// Makes the folder, and the folders above it that are missing, locks it, and calls fill(folder).
/// For a FileError of these it throws CommandError; then it has removed the folders that it made,
/// with these files. null: `must_be_new`, and there is something at the path. As mkdir() makes a
/// folder or fails, two runs that begin together never get the same one.
std::unique_ptr<LockedFolder> new_folder(const std::string& path,
                                         const std::vector<std::string>& files, bool must_be_new,
                                         const std::function<void(const LockedFolder&)>& fill);

/// Throws CommandError unless the folder is empty or, with `replaces`, has no file in the way of a run:
/// none of a model, and none with the name of a run's that was not written by fledge train. Such a
/// file counts as written by it if it is empty or if its first 4096 bytes look like its output.
void require_replaceable(const Folder& folder, bool replaces);
/// The same for a path, at which there may be nothing.
void require_place(const std::string& path, bool replaces);

/// Throws CommandError with exit status 1: the run is not possible here, though its input is usable.
[[noreturn]] void refuse_folder(const std::string& what, const std::string& advice);
inline constexpr const char* another_folder = "name another folder: -o DIR";

/// A run that goes on in its folder.
struct ResumedRun {
  std::unique_ptr<LockedFolder> folder;
  SavedRun saved;
};
/// Locks the folder of a run. Throws as open_run() does, and CommandError when another process has
/// it.
ResumedRun resume_run(const std::string& path);

/// The state of a run, in memory and, unless nothing is saved, in a folder.
class Store {
 public:
  /// The state before the first step; of a run that is resumed the state in its folder, to which it
  /// sets model and trainer. Changes no file. The arguments must outlive it, except `run` and
  /// `resumed`. Throws InputError for settings that no command could read again, and for a file that
  /// is damaged or of another model, or has weights whose loss is not finite; FileError for a log that
  /// is no regular file.
  Store(const TrainConfig& config, const RunConfig& run, const Corpus& corpus, Trainer& trainer,
        std::optional<ResumedRun> resumed);

  /// Makes the folder of a new run, and the folders above it, and saves the state of step 0. An empty
  /// folder is taken too and, with --force, one with a run, which stays whole until this run replaces
  /// it. Throws CommandError when the run cannot begin here; then no file has changed. `must_be_new`:
  /// if there is something at the path, returns false.
  bool begin(bool must_be_new);
  /// Goes on in the folder of the run that is resumed: cuts its log back to the saved step, and saves
  /// the run if its settings have changed. Returns whether the log was too short.
  bool go_on();

  const RunNotes& notes() const { return notes_; }
  bool has_folder() const { return folder_ != nullptr; }
  std::int64_t step() const { return trainer_->steps_done(); }
  /// The step of the checkpoint on disk.
  std::int64_t saved_step() const { return saved_step_; }
  /// The step of the model that is kept: of the best evaluation, or else the last.
  std::int64_t kept_step() const { return best_.empty() ? step() : notes_.best_step; }
  bool has_best() const { return !best_.empty(); }
  /// Whether the held-out loss was not lower in the last --patience evaluations.
  bool is_out_of_patience() const;
  /// Whether the last step is recorded, or the run is out of patience.
  bool is_over() const;

  /// A step that was taken. Until record() it is noted as unrecorded: an interrupt between both loses
  /// nothing, as what follows the step is done again when the run goes on.
  void take(const Trainer::Step& step);
  /// Records the step that was taken, and the held-out loss after it. Keeps the weights of the best
  /// evaluation, and finds overfitting by the smoothed loss, which is not shown.
  void record(std::optional<double> held_out);

  /// The events of the run so far, as its log has them.
  std::string events() const;
  /// Those of them that a resumed run keeps: what follows its last save happens again.
  const std::string& kept_events() const { return kept_events_; }
  /// Whether the log has the end of the run. Then it takes no more events.
  bool has_end() const { return has_end_; }
  /// Appends a line to the log. It is buffered: the error of a failed write may come from this call,
  /// a later one, or sync_events(). A part of a line may then be in the log, behind what counts. The
  /// log of a run without a folder is in memory, for the page alone.
  void append_event(const std::string& line);
  /// Writes the last events to the disk. Throws WriteError.
  void sync_events();

  /// Saves the state. Throws WriteError; CommandError when the folder was removed; Diverged if the
  /// loss of the model is not finite: such a model must not be saved. `is_quick`: that is the loss of
  /// one window, not of the next batch.
  void save(bool is_quick = false);
  /// Whether the step is a multiple of --eval-every, or the last save is at least 30 seconds old.
  bool is_save_due() const;
  /// Saves the state if the evaluation of the last step was the best.
  void save_if_best();
  /// Saves the state to go back to: with held-out text that of the best evaluation (or the resumed
  /// state, if its next loss or best loss is below ln V); without it, the last saved state with a loss
  /// below ln V; if there is none, that of step 0. Later states may diverge again whatever the
  /// learning rate is.
  void roll_back();
  /// Sets the model's weights to those of the best evaluation, if there was one.
  void use_kept_model() const {
    if (has_best()) set_weights(trainer_->model(), best_);
  }
  /// Unlocks the folder.
  void close() { folder_.reset(); }

 private:
  /// The bytes of run.safetensors after a step.
  struct Save {
    std::string bytes;
    std::int64_t step = 0;
  };
  void load(const SavedRun& saved);
  void open_log(const LockedFolder& folder, std::string_view events);
  void write_out();
  Save initial_save() const;
  Save this_save();
  void write(const Save& now);
  /// The loss of a model that gives every token the same probability: ln V.
  double guessing_loss() const { return std::log(static_cast<double>(config_->sizes.vocabulary)); }

  using Clock = std::chrono::steady_clock;

  const TrainConfig* config_;
  const Corpus* corpus_;
  Trainer* trainer_;
  std::string settings_;                  // the text of config.json
  bool has_new_settings_ = false;         // not those of the run that is resumed
  std::unique_ptr<LockedFolder> folder_;  // null: nothing is saved
  std::unique_ptr<Descriptor> log_;
  std::int64_t log_bytes_ = 0;
  std::string waiting_;  // lines of the log that are not written yet
  RunNotes notes_;
  std::vector<Array> best_;  // weights of the best evaluation, in the order of parameters()
  Save rollback_;            // written if the run diverges
  std::string kept_events_;  // of the run that is resumed
  double loaded_loss_ = infinity;
  bool has_end_ = false;
  std::int64_t saved_step_ = 0;
  Clock::time_point saved_at_ = Clock::now();
};

}  // namespace fledge::train
