#include "examples/support/output_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <filesystem>

#include "examples/support/run_main.h"
#include "examples/support/text.h"
#include "nn/io/files.h"

namespace support {

using fledge::Descriptor, fledge::WriteError;

namespace {

namespace fs = std::filesystem;

fs::path folder_of(const std::string& path) {
  const fs::path folder = fs::path(path).parent_path();
  return folder.empty() ? fs::path(".") : folder;
}

// Ends with the program's number, so that two programs do not write the same file.
std::string name_beside(const std::string& path) {
  return path + ".part" + std::to_string(::getpid());
}

Descriptor new_file(const std::string& path) {
  return {AT_FDCWD, path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW};
}

}  // namespace

void require_place(const std::string& path, const OutputKind& kind, bool makes_folder) {
  const auto refuse = [&](const std::string& problem, const std::string& advice) {
    throw CommandError(Exit::failed,
                       "the " + std::string(kind.noun) + " " + support::quoted(path) +
                           " cannot be written: " + problem,
                       advice);
  };
  const std::string a_file = "name a file, such as " + std::string(kind.example);
  if (path.ends_with('/')) refuse("it ends with '/', as a folder does", a_file);
  const fs::path folder = folder_of(path);
  std::error_code problem;
  const fs::file_status place = fs::status(folder, problem);
  if (place.type() == fs::file_type::not_found && problem != std::errc::not_a_directory) {
    if (makes_folder) return;
    refuse("the folder " + support::quoted(folder.string()) + " does not exist",
           "make it first: mkdir -p " + shell_word(folder.string()));
  }
  if (!fs::is_directory(place)) refuse(support::quoted(folder.string()) + " is no folder", a_file);
  const fs::file_status there = fs::status(path, problem);
  if (fs::is_directory(there)) refuse("it is a folder", a_file);
  if (fs::exists(there) && !fs::is_regular_file(there)) refuse("it is a device or a pipe", a_file);
  if (fs::exists(there)) {
    Descriptor old(AT_FDCWD, path, O_RDONLY | O_NONBLOCK);
    constexpr std::size_t first_lines = 300;
    const std::string beginning =
        old.exists() ? fledge::ByteSource(std::move(old), path).beginning(first_lines) : "unknown";
    if (!beginning.empty() && beginning.find(kind.mark) == std::string::npos)
      refuse("it exists and was not written by fledge", "name another file, or remove this one");
  }
  const std::string trial = name_beside(path);
  if (!new_file(trial).exists())
    refuse(fledge::FileError("make a file in", folder.string(), errno).what(), "name another file");
  ::unlink(trial.c_str());
}

void write_output(const std::string& path, std::string_view text, const OutputKind& kind) {
  require_place(path, kind);
  const std::string beside = name_beside(path);
  int problem = 0;
  {
    const Descriptor file = new_file(beside);
    if (!file.exists()) throw WriteError("write", path, errno);
    if (!fledge::write_all(file, text) || !fledge::sync_file(file)) problem = errno;
  }
  if (problem == 0 && std::rename(beside.c_str(), path.c_str()) != 0) problem = errno;
  if (problem != 0) {
    ::unlink(beside.c_str());
    throw WriteError("write", path, problem);
  }
  fledge::sync_folder(Descriptor(AT_FDCWD, folder_of(path).string(), O_RDONLY));
}

}  // namespace support
