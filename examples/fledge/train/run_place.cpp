#include "examples/fledge/train/run_place.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <filesystem>

#include "examples/support/errors.h"
#include "examples/support/text.h"

namespace fledge::train {

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

}  // namespace

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
  if (!replaces && !folder.names().empty())
    refuse_folder("the folder " + support::quoted(folder.path()) + " is not empty",
                  "--resume goes on with the run in it, --force begins anew");
  for (const char* name : {run_file, log_file})
    if (const auto beginning = folder.beginning(name, 4096);
        folder.has(name) && !(beginning && is_of_a_run(name, *beginning)))
      refuse_folder(support::quoted(folder.file(name)) + " was not written by fledge train",
                    "move it away, or name another folder: -o DIR");
  for (const char* name : {"config.json", "model.safetensors"})
    if (folder.has(name))
      refuse_folder(
          support::quoted(folder.file(name)) + " is in the way: it is of a model, not of a run",
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

}  // namespace fledge::train
