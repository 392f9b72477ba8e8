#include "nn/io/folder.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <memory>

namespace fledge {

namespace {

constexpr const char* uncommitted = ".fledge-uncommitted";  // not valid yet
constexpr const char* committed = ".fledge-committed";      // valid, not in place yet
constexpr const char* lock_name = ".lock";

bool try_lock(const Descriptor& file) {
  int result = 0;
  do result = ::flock(file.get(), LOCK_EX | LOCK_NB);
  while (result != 0 && errno == EINTR);
  return result == 0;
}

// Where to look for a file, in this order. A writer may commit after the first look and move the
// file after the second. So both places are tried twice.
std::vector<std::string> places_of(const std::string& name) {
  const std::string early = committed + std::string("/") + name;
  return {early, name, early, name};
}

// The name of a file in a folder; "" if there is none.
std::string first_name_in(const std::string& folder) {
  std::error_code error;
  const std::filesystem::directory_iterator first(folder, error);
  return error || first == end(first) ? "" : first->path().filename().string();
}

}  // namespace

bool make_folder(const std::string& path) {
  if (::mkdir(path.c_str(), 0777) != 0) {
    if (errno == EEXIST) return false;
    throw WriteError("make the folder", path, errno);
  }
  const std::size_t slash = path.rfind('/', path.find_last_not_of('/'));
  const std::string parent =
      slash == std::string::npos ? "." : path.substr(0, std::max<std::size_t>(slash, 1));
  // A parent folder without read permission cannot be opened, and so cannot be synced.
  const Descriptor folder(AT_FDCWD, parent, O_RDONLY | O_DIRECTORY);
  if (folder.exists() && !sync_folder(folder)) throw WriteError("sync", parent, errno);
  return true;
}

bool has_only_leftovers(const std::string& folder, const std::vector<std::string>& names) {
  std::error_code error;
  std::filesystem::directory_iterator entry;
  do entry = std::filesystem::directory_iterator(folder, error);
  while (error.value() == EINTR);
  std::vector<std::string> found;
  for (const std::filesystem::directory_iterator end; !error && entry != end;
       entry.increment(error))
    found.push_back(entry->path().filename().string());
  if (error) throw FileError("read", folder, error.value());
  const auto is_in = [](const std::vector<std::string>& list, const std::string& name) {
    return std::find(list.begin(), list.end(), name) != list.end();
  };
  const bool is_committed = !names.empty() && is_in(found, committed);
  return std::all_of(found.begin(), found.end(), [&](const std::string& name) {
    return name == lock_name || name == uncommitted ||
           (is_committed && (name == committed || is_in(names, name)));
  });
}

Folder::Folder(std::string path, std::vector<std::string> names)
    : path_(std::move(path)),
      names_(std::move(names)),
      folder_(AT_FDCWD, path_, O_RDONLY | O_DIRECTORY) {
  if (!folder_.exists()) throw FileError("read", path_, errno);
  const std::unique_ptr<char, void (*)(void*)> whole(::realpath(path_.c_str(), nullptr), std::free);
  whole_path_ = whole ? whole.get() : path_;
}

bool Folder::has(const std::string& name) const {
  const std::vector<std::string> places = places_of(name);
  return std::any_of(places.begin(), places.end(), [this](const std::string& place) {
    struct stat status {};
    return ::fstatat(folder_.get(), place.c_str(), &status, AT_SYMLINK_NOFOLLOW) == 0;
  });
}

std::optional<Descriptor> Folder::find(const std::string& name) const {
  for (const std::string& place : places_of(name)) {
    Descriptor opened(folder_.get(), place, O_RDONLY | O_NONBLOCK);
    if (opened.exists() || (errno != ENOENT && errno != ENOTDIR)) return opened;
  }
  return {};
}

std::optional<std::string> Folder::read(const std::string& name, std::uint64_t most) const {
  const std::optional<Descriptor> found = find(name);
  if (!found) return {};
  return read_whole(*found, file(name), most);
}

std::optional<ByteSource> Folder::open(const std::string& name) const {
  std::optional<Descriptor> found = find(name);
  if (!found) return {};
  return ByteSource(std::move(*found), file(name));
}

std::optional<std::string> Folder::beginning(const std::string& name, std::size_t count) const {
  const std::optional<Descriptor> found = find(name);
  if (!found) return {};
  return read_beginning(*found, file(name), count);
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

// The lock is on the folder itself, because a lock file could be removed while it is locked. Some
// network file systems cannot lock folders: there a file ".lock" is locked instead.
LockedFolder::LockedFolder(std::string path, std::vector<std::string> names)
    : Folder(std::move(path), std::move(names)) {
  bool is_locked = try_lock(folder_);
  if (!is_locked && errno != EWOULDBLOCK) {
    lock_file_.emplace(folder_.get(), lock_name, O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK);
    is_locked = lock_file_->exists() && try_lock(*lock_file_);
  }
  if (!is_locked && errno == EWOULDBLOCK)
    throw FileError("use", path_, "another process is using it", EWOULDBLOCK);
  if (!is_locked) throw WriteError("lock", path_, errno);
  remove_folder(committed, Contents::move);
  remove_folder(uncommitted, Contents::discard);
}

void LockedFolder::write_uncommitted(const NewFiles& files) const {
  const int folder = folder_.get();
  if (::mkdirat(folder, uncommitted, 0777) != 0)
    throw WriteError("write", file(uncommitted), errno);
  const Descriptor inside(folder, uncommitted, O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
  if (!inside.exists()) throw WriteError("write", file(uncommitted), errno);
  for (const auto& [name, bytes] : files) {
    struct stat status {};
    if (::fstatat(folder, name.c_str(), &status, AT_SYMLINK_NOFOLLOW) == 0 &&
        !S_ISREG(status.st_mode) && !S_ISLNK(status.st_mode))  // the rename replaces a link
      throw WriteError("write", file(name), "it is not a regular file");
    const Descriptor made(inside.get(), name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW);
    if (!made.exists() || !write_all(made, bytes) || !sync_file(made))
      throw WriteError("write", file(name), errno);
  }
  if (!sync_folder(inside)) throw WriteError("write", file(uncommitted), errno);
  if (::renameat(folder, uncommitted, folder, committed) != 0)
    throw WriteError("write", file(committed), errno);
}

// Removes the folder `uncommitted` or `committed`, if it exists. Its files are moved to their
// places or discarded. A file with a foreign name stays, and is an error.
void LockedFolder::remove_folder(const char* name, Contents contents) const {
  const int folder = folder_.get();
  const Descriptor inside(folder, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
  if (!inside.exists() && errno == ENOENT) return;
  const std::string path = file(name);
  if (!inside.exists()) throw WriteError("tidy", path, errno);
  for (const std::string& one : names_) {
    if (contents == Contents::move &&
        ::renameat(inside.get(), one.c_str(), folder, one.c_str()) != 0 && errno != ENOENT)
      throw WriteError("move the new", file(one), errno);
    // If both names are links to the same file, renameat() leaves both.
    if (::unlinkat(inside.get(), one.c_str(), 0) != 0 && errno != ENOENT)
      throw WriteError("tidy", path + "/" + one, errno);
  }
  if (contents == Contents::move && !sync_folder(folder_)) throw WriteError("sync", path_, errno);
  if (::unlinkat(folder, name, AT_REMOVEDIR) == 0) return;
  const int error = errno;
  const std::string foreign = first_name_in(path);
  if (foreign.empty()) throw WriteError("tidy", path, error);
  throw WriteError("tidy", path,
                   "it holds the file " + in_quotes(foreign) +
                       ", which fledge did not write: move it to another folder",
                   error);
}

void LockedFolder::replace(const NewFiles& files) {
  remove_folder(committed, Contents::move);
  remove_folder(uncommitted, Contents::discard);
  try {
    write_uncommitted(files);
  } catch (const WriteError&) {
    try {
      remove_folder(uncommitted, Contents::discard);
    } catch (const FileError&) {  // the next writer removes it
    }
    throw;
  }
  // From here on every reader sees the new files.
  try {
    if (!sync_folder(folder_)) throw WriteError("sync", path_, errno);
    remove_folder(committed, Contents::move);
  } catch (const FileError& error) {
    throw WriteError("finish", path_, std::string("the new files are saved, but ") + error.what(),
                     error.error_number);
  }
}

}  // namespace fledge
