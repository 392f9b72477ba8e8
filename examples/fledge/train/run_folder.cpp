#include "examples/fledge/train/run_folder.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>

#include "examples/fledge/train/metrics.h"
#include "examples/fledge/train/run_config.h"
#include "examples/support/errors.h"
#include "examples/support/text.h"
#include "nn/gpt/weights.h"
#include "nn/io/json.h"

namespace fledge::train {

namespace {

// Exit status 1: the run is not possible here, though its input is usable.
[[noreturn]] void refuse_folder(const std::string& what, const std::string& advice) {
  throw support::CommandError(support::Exit::failed, what, advice);
}

constexpr const char* another_folder = "name another folder: -o DIR";

// Whether a file of this name begins as fledge writes it. An empty file may be replaced too.
bool is_of_a_run(const std::string& name, const std::optional<std::string>& bytes) {
  if (!bytes) return false;  // a link to no file
  const std::string beginning = bytes->substr(0, 4096);
  const auto has = [&](const char* part) { return beginning.find(part) != std::string::npos; };
  if (beginning.empty()) return true;
  if (name == config_name) return beginning[0] == '{' && has("\"fledge\"");
  if (name == csv_name)
    return beginning.starts_with(std::string(csv_header).substr(0, beginning.size()));
  if (name == jsonl_name) return beginning.starts_with("{\"type\":\"");
  const bool is_stored = beginning.size() > 8 && beginning[8] == '{' && has("\"__metadata__\"");
  return is_stored && (name == state_name ? has("\"run\"") : has("\"step\"") && has("\"loss\""));
}

// What a crashed writer left does not count.
bool is_empty(const std::string& folder) {
  std::error_code error;
  std::filesystem::directory_iterator entry(folder, error);
  for (const std::filesystem::directory_iterator end; !error && entry != end;
       entry.increment(error))
    if (entry->path().filename() != ".lock" && entry->path().filename() != ".fledge-uncommitted")
      return false;
  if (error) throw FileError("read", folder, error.value());
  return true;
}

void require_replaceable(const Folder& folder, bool replaces) {
  if (is_empty(folder.path())) return;
  if (!replaces)
    refuse_folder("the folder " + support::quoted(folder.path()) + " is not empty",
                  "--resume goes on with the run in it, --force begins anew");
  for (const std::string& name : run_files())
    if (folder.has(name) && !is_of_a_run(name, folder.read(name)))
      refuse_folder(support::quoted(folder.file(name)) + " was not written by fledge train",
                    "move it away, or name another folder: -o DIR");
}

// Checks the path before anything is made there.
void require_place(const std::string& path, bool replaces) {
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0) return;
  if (!S_ISDIR(status.st_mode))
    refuse_folder(support::quoted(path) + " is a file, not a folder", "name another: -o DIR");
  try {
    require_replaceable(Folder(path, run_files()), replaces);
  } catch (const FileError& error) {
    refuse_folder(error.what(), another_folder);
  }
}

bool make(const std::string& path) {
  try {
    return make_folder(path);
  } catch (const FileError& error) {
    refuse_folder(error.what(),
                  "name a folder in one that is there and that you may write to: -o DIR");
  }
}

LockedFolder locked(const std::string& path) {
  try {
    return LockedFolder(path, run_files());
  } catch (const FileError& error) {
    const bool is_locked = error.error_number == EWOULDBLOCK;
    refuse_folder(
        error.what(),
        (is_locked ? "wait until the other run has ended, or " : std::string()) + another_folder);
  }
}

}  // namespace

std::vector<std::string> run_files() {
  return {config_name, model_name, state_name, csv_name, jsonl_name};
}

LockedFolder begin_folder(const std::string& path, bool replaces, const NewFiles& files) {
  require_place(path, replaces);
  const bool is_new = make(path);
  LockedFolder folder = locked(path);
  try {
    require_replaceable(folder, replaces);
    folder.replace(files);
  } catch (const FileError& error) {
    if (is_new) ::rmdir(path.c_str());
    refuse_folder(error.what(), another_folder);
  }
  return folder;
}

LockedFolder resume_folder(const std::string& path) {
  struct stat status {};
  const bool is_folder = ::stat(path.c_str(), &status) == 0 && S_ISDIR(status.st_mode);
  if (!is_folder || !Folder(path, run_files()).has(config_name))
    throw support::InputError(
        "there is no run in " + support::quoted(path) + ": it has no config.json",
        "begin one: fledge train FILE -o DIR");
  read_run_config(Folder(path, run_files()));
  return locked(path);
}

std::optional<std::string> read_file_of(const Folder& folder, const char* name,
                                        std::uint64_t most) {
  std::optional<std::string> bytes = folder.read(name, most);
  if (!bytes) require_not_removed(folder);
  return bytes;
}

std::string rows_of(const Folder& folder, const char* name, std::int64_t size,
                    const std::function<void(const std::string&)>& warn) {
  const std::optional<std::string> bytes = read_file_of(folder, name);
  const auto most = static_cast<std::size_t>(size);
  if (bytes && bytes->size() >= most) return bytes->substr(0, most);
  if (most > 0)
    warn(support::quoted(folder.file(name)) +
         (bytes ? " is shorter than when the checkpoint was made: rows are missing from it"
                : " is missing: it begins again with the next step"));
  return bytes ? bytes->substr(0, bytes->rfind('\n') + 1) : "";
}

void require_not_removed(const Folder& folder) {
  if (folder.is_removed())
    refuse_folder("the folder " + support::quoted(folder.path()) +
                      " was removed while the run was in it: nothing of the run is left",
                  "begin again: fledge train FILE -o DIR");
}

void save_files(LockedFolder& folder, const NewFiles& files, std::int64_t step) {
  require_not_removed(folder);
  try {
    folder.replace(files);
  } catch (const WriteError&) {
    require_not_removed(folder);
    throw;
  }
  if (folder.is_at_its_path()) return;
  require_not_removed(folder);
  const std::string now = folder.path_now();
  refuse_folder("the folder " + support::quoted(folder.path()) + " was moved to " +
                    support::quoted(now) + " while the run was in it",
                "all is saved up to step " + std::to_string(step) +
                    ". go on with: fledge train --resume " + support::shell_word(now));
}

}  // namespace fledge::train
