#include "examples/fledge/train/run_place.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <filesystem>

#include "examples/fledge/train/metrics.h"
#include "examples/support/errors.h"
#include "examples/support/text.h"
#include "nn/io/utf8.h"

namespace fledge::train {

namespace {

// Of a name of a folder. File systems accept 255; a number and a suffix follow.
constexpr std::size_t most_name_bytes = 200;

// Whether a file of this name begins as fledge writes it. An empty file may be replaced too.
bool is_of_a_run(const std::string& name, const std::optional<std::string>& bytes) {
  if (!bytes) return false;  // a link to no file
  const std::string& beginning = *bytes;
  const auto has = [&](const char* part) { return beginning.find(part) != std::string::npos; };
  if (beginning.empty()) return true;
  if (name == config_name) return beginning[0] == '{' && has("\"fledge\"");
  if (name == csv_name)
    return beginning.starts_with("step,loss,") || csv_header().starts_with(beginning);
  if (name == jsonl_name) return beginning.starts_with("{\"type\":\"");
  const bool is_stored = beginning.size() > 8 && beginning[8] == '{' && has("\"__metadata__\"");
  return is_stored && (name == state_name ? has("\"run\"") : has("\"step\"") && has("\"loss\""));
}

bool path_exists(const std::string& path) {
  struct stat status {};
  return ::lstat(path.c_str(), &status) == 0;
}

}  // namespace

std::vector<std::string> files_for_others() {
  return {"tokenizer.json", "tokenizer_config.json", "vocab.json", "merges.txt",
          "generation_config.json"};
}

std::vector<std::string> run_files() {
  std::vector<std::string> names{config_name, model_name, state_name, csv_name, jsonl_name};
  for (std::string& name : files_for_others()) names.push_back(std::move(name));
  return names;
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
  std::vector<std::string> above, made;  // the missing folders above the path, the innermost first
  for (std::string folder = std::filesystem::path(path).parent_path().string();
       !folder.empty() && !path_exists(folder);
       folder = std::filesystem::path(folder).parent_path().string())
    above.push_back(folder);
  try {
    for (auto folder = above.rbegin(); folder != above.rend(); ++folder)
      if (make_folder(*folder)) made.push_back(*folder);
    if (make_folder(path)) made.push_back(path);
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
  if (has_only_leftovers(folder.path())) return;
  if (!replaces)
    refuse_folder("the folder " + support::quoted(folder.path()) + " is not empty",
                  "--resume goes on with the run in it, --force begins anew");
  const auto is_ours = [&](const std::string& name) {
    return folder.has(name) && is_of_a_run(name, folder.beginning(name, 4096));
  };
  const std::vector<std::string> others = files_for_others();
  for (const std::string& name : run_files())
    // What other programs need counts as ours beside our config.json.
    if (folder.has(name) &&
        !is_ours(std::count(others.begin(), others.end(), name) > 0 ? config_name : name))
      refuse_folder(support::quoted(folder.file(name)) + " was not written by fledge train",
                    "move it away, or name another folder: -o DIR");
}

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

void refuse_folder(const std::string& what, const std::string& advice) {
  throw support::CommandError(support::Exit::failed, what, advice);
}

}  // namespace fledge::train
