// The folder of a run, locked while the run lasts; its name, and what may be at its path.
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
#include <string>
#include <string_view>
#include <vector>

#include "examples/fledge/train/train_config.h"
#include "nn/io/folder.h"
#include "nn/train/checkpoint.h"

namespace fledge::train {

/// The names of a run's files.
inline constexpr const char *run_file = "run.safetensors", *log_file = "events.jsonl";
/// All bytes of the log in a folder; "" if there is none. Throws FileError if it is no regular file.
std::string read_log(const Folder& folder);

/// A run as its folder has it. The numbers are not read yet.
struct SavedRun {
  Checkpoint checkpoint;
  RunConfig config;
};
/// Checks run.safetensors. Throws InputError that names the file and what is wrong with it; for a
/// folder without this file, what it has instead.
SavedRun open_run(const Folder& folder);

/// Whether the held-out loss was not lower in the last `since_best` evaluations, and that is the
/// --patience of the run.
bool is_out_of_patience(const TrainConfig& settings, std::int64_t since_best);
/// Whether a run with these notes is over: its last step is recorded, or it is out of patience.
bool is_over(const TrainConfig& settings, const RunNotes& notes);

/// The lines of a log that belong to the saved run with these notes.
std::string saved_events(std::string log, const RunNotes& notes, bool is_over);
/// Those in a folder. Throws InputError, also for a log that is no regular file.
std::string saved_events(const Folder& folder);

/// The name of a run's folder when none was given: "poems-run" for "texts/poems.txt", "text-run"
/// for standard input. It has no control characters, and begins with neither a dot nor a hyphen.
std::string run_name(const std::string& text_path);
/// The first of poems-run, poems-run-2, poems-run-3, … that does not exist.
std::string free_name(const std::string& name);

/// Makes a folder, and the folders above it that are missing. Returns those that it made, the
/// outermost first; nothing when the path exists. Throws CommandError; then it has removed them.
/// As mkdir() makes a folder or fails, two runs that begin together never get the same one.
std::vector<std::string> make_folders(const std::string& path);
/// Removes these folders, the last one first, if they are empty.
void remove_folders(const std::vector<std::string>& folders);

/// Throws CommandError unless the folder is empty or, with `replaces`, has no file in the way of a run:
/// none of a model, and none with the name of a run's that was not written by fledge train. Such a
/// file counts as written by it if it is empty or if its first 4096 bytes look like its output.
void require_replaceable(const Folder& folder, bool replaces);
/// The same for a path, at which there may be nothing.
void require_place(const std::string& path, bool replaces);

/// Throws CommandError with exit status 1: the run is not possible here, though its input is usable.
[[noreturn]] void refuse_folder(const std::string& what, const std::string& advice);
inline constexpr const char* another_folder = "name another folder: -o DIR";

/// Locks an existing folder. Throws CommandError, also when another process has the lock.
std::unique_ptr<LockedFolder> lock_folder(const std::string& path);

/// A run that goes on in its folder.
struct ResumedRun {
  std::unique_ptr<LockedFolder> folder;
  SavedRun saved;
};
/// Locks the folder of a run. Throws as open_run() and lock_folder() do.
ResumedRun resume_run(const std::string& path);

}  // namespace fledge::train
