#include "examples/fledge/train/run_folder.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>

#include "examples/support/errors.h"
#include "examples/support/text.h"

namespace fledge::train {

namespace {

constexpr const char* damage_advice_of_run = "restore the file, or begin a new run";

// For a folder without run.safetensors.
[[noreturn]] void refuse_missing_run(const std::string& path) {
  const std::string name = support::quoted(path);
  std::error_code none;
  if (std::filesystem::exists(path + "/state.safetensors", none))
    throw support::InputError("the run in " + name + " is of an older fledge", older_advice);
  throw support::InputError("there is no run in " + name + ": it has no " + run_file,
                            "begin one: fledge train FILE -o DIR");
}

}  // namespace

SavedRun open_run(const Folder& folder) {
  const std::string path = support::quoted(folder.file(run_file));
  return support::with_advice(
      damage_advice_of_run,
      [&]() -> SavedRun {
        const std::optional<ByteSource> file = folder.open(run_file);
        if (!file) refuse_missing_run(folder.path());
        Checkpoint checkpoint = open_checkpoint(*file);
        RunConfig config =
            located_at("its settings", [&] { return run_config(checkpoint.settings); });
        // Before such a model is built.
        if (4 * parameter_count(config.settings.sizes) > static_cast<double>(file->size()))
          throw FormatError("it has too few bytes for the model of its settings");
        return {std::move(checkpoint), std::move(config)};
      },
      path);
}

bool is_out_of_patience(const TrainConfig& settings, std::int64_t since_best) {
  return settings.patience > 0 && since_best >= settings.patience;
}

bool is_over(const TrainConfig& settings, std::int64_t step, std::int64_t since_best) {
  return is_out_of_patience(settings, since_best) || step >= settings.training.schedule.steps;
}

std::string saved_events(std::string log, const RunNotes& notes, bool is_over) {
  if (!is_over) log.resize(std::min(log.size(), static_cast<std::size_t>(notes.log_bytes)));
  log.resize(log.rfind('\n') + 1);  // npos + 1 is 0
  return log;
}

// The log is read first: while a new run takes this one's place, the notes are not older than it.
std::string saved_events(const Folder& folder) {
  std::string log = support::with_advice(
      damage_advice_of_run, [&] { return folder.read(log_file, most_log_bytes).value_or(""); });
  const SavedRun run = open_run(folder);
  const RunNotes& notes = run.checkpoint.notes;
  return saved_events(std::move(log), notes,
                      is_over(run.config.settings, notes.step, notes.since_best));
}

RunFolder::RunFolder(const std::string& path) {
  try {
    folder_ = std::make_unique<LockedFolder>(path);
  } catch (const FileError& error) {
    const bool is_held = error.error_number == EWOULDBLOCK;
    refuse_folder(
        error.what(),
        std::string(is_held ? "wait until the other run has ended, or " : "") + another_folder);
  }
}

RunFolder RunFolder::begin(const std::string& path, Place place, std::string_view run) {
  const bool replaces = place == Place::replaceable;
  if (place != Place::unused) require_place(path, replaces);
  const std::vector<std::string> made = make_folders(path);
  if (place == Place::unused && made.empty()) throw FolderExists(path);
  try {
    RunFolder begun(path);
    require_replaceable(*begun.folder_, replaces);
    // In this order: no event of an old log belongs to the new run, whose log has no byte yet.
    begun.folder_->replace(run_file, run);
    begun.open_log("");
    return begun;
  } catch (const FileError& error) {
    for (const char* name : {run_file, log_file})
      if (!made.empty()) ::unlink((path + "/" + name).c_str());
    remove_folders(made);
    refuse_folder(error.what(), another_folder);
  }
}

RunFolder RunFolder::resume(const std::string& path) {
  std::error_code none;
  if (!std::filesystem::is_directory(path, none)) refuse_missing_run(path);
  open_run(Folder(path));  // checked before the folder gets a lock file
  RunFolder run(path);
  run.saved_ = open_run(*run.folder_);
  return run;
}

std::string RunFolder::log() const { return folder_->read(log_file, most_log_bytes).value_or(""); }

void RunFolder::open_log(std::string_view events) {
  folder_->replace(log_file, events);
  log_ = std::make_unique<Descriptor>(folder_->descriptor(), log_file, O_WRONLY | O_NOFOLLOW);
  if (!log_->exists()) throw WriteError("write", file(log_file), errno);
  log_bytes_ = static_cast<std::int64_t>(events.size());
}

void RunFolder::append(const std::string& line) {
  waiting_ += line + "\n";
  if (waiting_.size() > 4096) write_out();
}

// After a failed write the lines wait, and the next write begins at the same place.
void RunFolder::write_out() {
  if (waiting_.empty()) return;
  if (::lseek(log_->get(), log_bytes_, SEEK_SET) < 0 || !write_all(*log_, waiting_))
    throw WriteError("write", file(log_file), errno);
  log_bytes_ += static_cast<std::int64_t>(waiting_.size());
  waiting_.clear();
}

std::int64_t RunFolder::sync_log() {
  write_out();
  if (!sync_file(*log_)) throw WriteError("sync", file(log_file), errno);
  return log_bytes_;
}

void RunFolder::save(std::string_view run) const {
  try {
    folder_->replace(run_file, run);
  } catch (const WriteError&) {
    if (!folder_->is_removed()) throw;
    refuse_folder("the folder " + support::quoted(folder_->path()) +
                      " was removed while the run was in it: nothing of the run is left",
                  "begin again: fledge train FILE -o DIR");
  }
}

}  // namespace fledge::train
