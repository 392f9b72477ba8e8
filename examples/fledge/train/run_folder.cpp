#include "examples/fledge/train/run_folder.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <filesystem>

#include "examples/support/errors.h"
#include "examples/support/text.h"

namespace fledge::train {

using support::InputError, support::with_advice;

namespace {

// Of a name of a folder. File systems accept 255; a number and a suffix follow.
constexpr std::size_t most_name_bytes = 200;

// Whether a file of a run begins as fledge writes it. An empty file may be replaced too.
bool is_of_a_run(const std::string& name, const std::string& beginning) {
  if (beginning.empty()) return true;
  if (name == log_file) return beginning.starts_with("{\"type\":\"");
  return beginning.find("\"format\":\"fledge run") != std::string::npos;
}

bool path_exists(const std::string& path) {
  struct stat status {};
  return ::lstat(path.c_str(), &status) == 0;
}

constexpr const char* damage_advice_of_run = "restore the file, or begin a new run";

// For a folder without run.safetensors.
[[noreturn]] void refuse_missing_run(const std::string& path) {
  const std::string name = support::quoted(path);
  std::error_code none;
  if (std::filesystem::exists(path + "/state.safetensors", none))
    throw InputError("the run in " + name + " is of an older fledge", older_advice);
  if (std::filesystem::is_regular_file(path, none))
    throw InputError(name + " is a file, not the folder of a run",
                     "begin a run with it as text: fledge train FILE -o DIR");
  throw InputError("there is no run in " + name + ": it has no " + run_file,
                   "begin one: fledge train FILE -o DIR");
}

}  // namespace

std::string read_log(const Folder& folder) {
  constexpr std::uint64_t most_bytes = std::uint64_t{1} << 30;
  return folder.read(log_file, most_bytes).value_or("");
}

SavedRun open_run(const Folder& folder) {
  const std::string path = support::quoted(folder.file(run_file));
  return with_advice(
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

bool is_over(const TrainConfig& settings, const RunNotes& notes) {
  return !notes.unrecorded && (is_out_of_patience(settings, notes.since_best) ||
                               notes.step >= settings.training.schedule.steps);
}

std::string saved_events(std::string log, const RunNotes& notes, bool is_over) {
  if (!is_over) log.resize(std::min(log.size(), static_cast<std::size_t>(notes.log_bytes)));
  log.resize(log.rfind('\n') + 1);  // npos + 1 is 0
  return log;
}

// The log is read first: while a new run takes this one's place, the notes are not older than it.
std::string saved_events(const Folder& folder) {
  std::string log = with_advice(damage_advice_of_run, [&] { return read_log(folder); });
  const SavedRun run = open_run(folder);
  const RunNotes& notes = run.checkpoint.notes;
  return saved_events(std::move(log), notes, is_over(run.config.settings, notes));
}

std::string run_name(const std::string& text_path) {
  if (text_path == "-") return "text-run";
  std::error_code no_folder;  // the current folder may have been removed
  std::filesystem::path path = std::filesystem::absolute(text_path, no_folder).lexically_normal();
  if (!path.has_filename()) path = path.parent_path();  // "poems/"
  std::string name = std::filesystem::is_directory(path, no_folder) ? path.filename().string()
                                                                    : path.stem().string();
  name.erase(0, std::min(name.find_first_not_of(".-"), name.size()));
  if (name.size() > most_name_bytes) {  // cut in front of a character
    std::size_t end = most_name_bytes;
    while (end > 0 && (static_cast<unsigned char>(name[end]) & 0xC0) == 0x80) --end;
    name.resize(end);
  }
  for (char& byte : name)
    if (std::iscntrl(static_cast<unsigned char>(byte))) byte = '_';
  return (name.empty() ? "text" : name) + "-run";
}

std::string free_name(const std::string& name) {
  std::string free = name;
  for (int number = 2; path_exists(free); ++number) free = name + "-" + std::to_string(number);
  return free;
}

std::vector<std::string> make_folders(const std::string& path) {
  namespace fs = std::filesystem;
  std::vector<std::string> missing{path}, made;  // the innermost first; the outermost first
  for (fs::path above = fs::path(path).parent_path();
       !above.empty() && !path_exists(above.string()); above = above.parent_path())
    missing.push_back(above.string());
  try {
    for (auto folder = missing.rbegin(); folder != missing.rend(); ++folder)
      if (make_folder(*folder)) made.push_back(*folder);
  } catch (const FileError& error) {
    remove_folders(made);
    refuse_folder(error.what(), "name a folder in one that you may write to: -o DIR");
  }
  return made;
}

void remove_folders(const std::vector<std::string>& folders) {
  for (auto folder = folders.rbegin(); folder != folders.rend(); ++folder) ::rmdir(folder->c_str());
}

void require_replaceable(const Folder& folder, bool replaces) {
  for (const char* name : {"config.json", "model.safetensors"})
    if (folder.has(name))
      refuse_folder(
          support::quoted(folder.file(name)) + " is in the way: it is of a model, not of a run",
          "move it away, or name another folder: -o DIR");
  if (!replaces && !folder.names().empty())
    refuse_folder("the folder " + support::quoted(folder.path()) + " is not empty",
                  "--resume goes on with the run in it, --force begins anew");
  for (const char* name : {run_file, log_file})
    if (const auto beginning = folder.beginning(name, 4096);
        folder.has(name) && !(beginning && is_of_a_run(name, *beginning)))
      refuse_folder(support::quoted(folder.file(name)) + " was not written by fledge train",
                    "move it away, or name another folder: -o DIR");
}

void require_place(const std::string& path, bool replaces) {
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0) return;
  if (!S_ISDIR(status.st_mode))
    refuse_folder(support::quoted(path) + " is a file, not a folder", "name another: -o DIR");
  try {
    require_replaceable(Folder(path), replaces);
  } catch (const FileError& error) {
    refuse_folder(error.what(), another_folder);
  }
}

void refuse_folder(const std::string& what, const std::string& advice) {
  throw support::CommandError(support::Exit::failed, what, advice);
}

std::unique_ptr<LockedFolder> lock_folder(const std::string& path) {
  try {
    return std::make_unique<LockedFolder>(path);
  } catch (const FileError& error) {
    const bool is_held = error.error_number == EWOULDBLOCK;
    refuse_folder(
        error.what(),
        std::string(is_held ? "wait until the other run has ended, or " : "") + another_folder);
  }
}

ResumedRun resume_run(const std::string& path) {
  std::error_code none;
  if (!std::filesystem::is_directory(path, none)) refuse_missing_run(path);
  open_run(Folder(path));  // checked before the folder gets a lock file
  std::unique_ptr<LockedFolder> folder = lock_folder(path);
  SavedRun saved = open_run(*folder);
  return {std::move(folder), std::move(saved)};
}

}  // namespace fledge::train
