// The folder of a run, locked while the run lasts.
//
//   run.safetensors   the run: weights, moments, tokenizer, settings, notes (nn/train/checkpoint.h)
//   events.jsonl      its log: an object for each event: start, steps, evaluations, samples, …, end
//
// run.safetensors alone decides what the run is, and a save replaces it whole. Before each save the
// log is synced, and its size goes into the notes. So the log never lags behind. What lies beyond
// that size happened after the save: readers ignore it, and --resume cuts it off, because it happens
// again. The final report alone comes after the last save; if the run is over, it counts.
#pragma once

#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>

#include "examples/fledge/train/run_config.h"
#include "examples/fledge/train/run_place.h"
#include "nn/train/checkpoint.h"

namespace fledge::train {

/// A run as its folder has it. The numbers are not read yet.
struct SavedRun {
  Checkpoint checkpoint;
  RunConfig config;
};
/// Checks run.safetensors. Throws InputError that names the file and what is wrong with it; for a
/// folder without this file, what it has instead.
SavedRun open_run(const Folder& folder);

/// Whether a run with these settings is over after `step`: it has all its steps, or the held-out loss
/// was not lower in the last `since_best` evaluations, and that is its --patience.
bool is_out_of_patience(const TrainConfig& settings, std::int64_t since_best);
bool is_over(const TrainConfig& settings, std::int64_t step, std::int64_t since_best);

/// The lines of a log that belong to the saved run with these notes.
std::string saved_events(std::string log, const RunNotes& notes, bool is_over);
/// Those in a folder. Throws InputError, also for a log that is no regular file.
std::string saved_events(const Folder& folder);
/// The beginning of the last event of a run that was not stopped.
inline constexpr std::string_view end_of_run = R"({"type":"end","status":"ok",)";

/// What may be at the path of a new run.
enum class Place {
  unused,      // nothing, and no other run may begin there at the same time
  empty,       // nothing or an empty folder
  replaceable  // also a run, which stays whole until the new run replaces it
};

/// There is something at the path of a run whose place must be unused.
struct FolderExists : std::runtime_error {
  using std::runtime_error::runtime_error;
};

class RunFolder {
 public:
  /// A new run with these bytes of run.safetensors. Makes its folder and the folders above it. Throws
  /// FolderExists for a place that is not unused, and CommandError when the run cannot begin here;
  /// then no file has changed.
  static RunFolder begin(const std::string& path, Place place, std::string_view run);
  /// The run that the folder has.
  static RunFolder resume(const std::string& path);

  /// The run that was resumed.
  const SavedRun& saved() const { return *saved_; }
  /// All bytes of the log; "" if there is none. Throws FileError if it is no regular file.
  std::string log() const;
  /// Gives the log these events and opens it. It is a new file: a second link to the old one keeps
  /// what it has.
  void open_log(std::string_view events);
  /// Appends a line to the log. It is buffered: the error of a failed write may come from this call,
  /// a later one, or sync_log(). A part of a line may then be in the log, behind what counts.
  void append(const std::string& line);
  /// Brings the log to the disk and returns its size. Throws WriteError.
  std::int64_t sync_log();
  /// Replaces run.safetensors by these bytes. Throws WriteError; CommandError when the folder was
  /// removed. A folder that is moved is written to where it is.
  void save(std::string_view run) const;

  std::string file(const char* name) const { return folder_->file(name); }

 private:
  explicit RunFolder(const std::string& path);
  void write_out();

  std::unique_ptr<LockedFolder> folder_;
  std::optional<SavedRun> saved_;
  std::unique_ptr<Descriptor> log_;
  std::string waiting_;  // lines that are not written yet
  std::int64_t log_bytes_ = 0;
};

}  // namespace fledge::train
