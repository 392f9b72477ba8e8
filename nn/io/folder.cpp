#include "nn/io/folder.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <memory>

namespace fledge {

bool make_folder(const std::string& path) {
  if (::mkdir(path.c_str(), 0777) != 0) {
    if (errno == EEXIST) return false;
    fail_writing("make the folder", path, errno);
  }
  const std::size_t end = path.find_last_not_of('/');
  const std::size_t slash = path.rfind('/', end);
  const std::string parent =
      slash == std::string::npos ? "." : path.substr(0, std::max<std::size_t>(slash, 1));
  // A parent folder without read permission cannot be opened, and so cannot be synced.
  const Descriptor folder(parent, O_RDONLY | O_DIRECTORY);
  if (folder.exists() && !sync_folder(folder.get())) fail_writing("sync", parent, errno);
  return true;
}

std::vector<std::string> Folder::names_in(int folder, const std::string& path) {
  Descriptor again(folder, ".", O_RDONLY | O_DIRECTORY);
  DIR* entries = again.exists() ? ::fdopendir(::dup(again.get())) : nullptr;
  if (entries == nullptr) fail_reading(path, errno);
  std::vector<std::string> names;
  errno = 0;
  while (const dirent* entry = ::readdir(entries)) {
    const std::string name = entry->d_name;
    if (name != "." && name != "..") names.push_back(name);
    errno = 0;
  }
  const int error = errno;
  ::closedir(entries);
  if (error != 0) fail_reading(path, error);
  return names;
}

Folder::Folder(std::string path, std::vector<std::string> names)
    : path_(std::move(path)), names_(std::move(names)) {
  if (path_.find('\0') != std::string::npos)
    throw FileError(file_problem("read", path_, "a path holds no zero byte"));
  folder_ = Descriptor(path_, O_RDONLY | O_DIRECTORY);
  if (!folder_.exists()) fail_reading(path_, errno);
  const std::unique_ptr<char, void (*)(void*)> whole(::realpath(path_.c_str(), nullptr), std::free);
  whole_path_ = whole ? whole.get() : path_;
}

bool Folder::is_ours(const std::string& name) const {
  return std::find(names_.begin(), names_.end(), name) != names_.end();
}

// Where to look for a file, in this order. A writer may commit after the first look and move the file
// after the second. So both places are tried twice.
std::vector<std::string> Folder::places_of(const std::string& name) {
  const std::string early = committed + std::string("/") + name;
  return {early, name, early, name};
}

Descriptor Folder::open_file(const std::string& name) const {
  for (const std::string& place : places_of(name)) {
    Descriptor file(folder_.get(), place, O_RDONLY | O_NONBLOCK);
    if (file.exists() || (errno != ENOENT && errno != ENOTDIR)) return file;
  }
  errno = ENOENT;
  return {};
}

bool Folder::has(const std::string& name) const {
  const std::vector<std::string> places = places_of(name);
  return std::any_of(places.begin(), places.end(), [this](const std::string& place) {
    struct stat status {};
    return ::fstatat(folder_.get(), place.c_str(), &status, AT_SYMLINK_NOFOLLOW) == 0;
  });
}

std::optional<std::string> Folder::read(const std::string& name, std::uint64_t most) const {
  const Descriptor opened = open_file(name);
  if (!opened.exists() && errno == ENOENT) return {};
  return read_whole(opened, file(name), most);
}

std::string Folder::beginning(const std::string& name, std::size_t count) const {
  const Descriptor opened = open_file(name);
  struct stat status {};
  if (!opened.exists() || ::fstat(opened.get(), &status) != 0) fail_reading(file(name), errno);
  if (!S_ISREG(status.st_mode))
    throw FileError(file_problem("read", file(name), "it is no regular file"));
  std::string bytes(count, '\0');
  bytes.resize(read_some(opened.get(), bytes.data(), count, file(name)));
  return bytes;
}

bool Folder::is_empty() const {
  const std::vector<std::string> there = names_in(folder_.get(), path_);
  return std::all_of(there.begin(), there.end(), [](const std::string& name) {
    return name == lock_name || name == uncommitted;
  });
}

bool Folder::is_removed() const {
  struct stat mine {};
  return ::fstat(folder_.get(), &mine) == 0 && mine.st_nlink == 0;
}

bool Folder::is_at_its_path() const {
  struct stat mine {
  }, there{};
  if (::fstat(folder_.get(), &mine) != 0) return true;
  if (::stat(whole_path_.c_str(), &there) != 0) return errno != ENOENT && errno != ENOTDIR;
  return mine.st_dev == there.st_dev && mine.st_ino == there.st_ino;
}

std::string Folder::path_now() const {
  const std::string link = "/proc/self/fd/" + std::to_string(folder_.get());
  std::string path(4096, '\0');
  const ssize_t size = ::readlink(link.c_str(), path.data(), path.size());
  if (size <= 0) return path_;
  path.resize(static_cast<std::size_t>(size));
  return path;
}

}  // namespace fledge
