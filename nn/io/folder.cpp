#include "nn/io/folder.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>

namespace fledge {

namespace {

constexpr const char *temporary_name = ".fledge-new", *lock_name = ".lock";

bool try_lock(const Descriptor& file) {
  int result = 0;
  do result = ::flock(file.get(), LOCK_EX | LOCK_NB);
  while (result != 0 && errno == EINTR);
  return result == 0;
}

void sync_parent(const std::string& path) {
  const std::size_t slash = path.rfind('/', path.find_last_not_of('/'));
  const std::string parent =
      slash == std::string::npos ? "." : path.substr(0, std::max<std::size_t>(slash, 1));
  // A parent folder without read permission cannot be opened, and so cannot be synced.
  const Descriptor folder(AT_FDCWD, parent, O_RDONLY | O_DIRECTORY);
  if (folder.exists() && !sync_folder(folder)) throw WriteError("sync", parent, errno);
}

// Gives a file these bytes by way of a second one, relative to a folder. `where` stands before their
// names in messages.
void replace_file(int folder, const std::string& where, const std::string& name,
                  const std::string& temporary, std::string_view bytes) {
  // Where nothing can be there or be written, the error is about the file that the user knows.
  const int removed = ::unlinkat(folder, temporary.c_str(), 0) == 0 ? 0 : errno;
  if (removed != 0 && removed != ENOENT && removed != EROFS && removed != ENOTDIR &&
      removed != ENAMETOOLONG)
    throw WriteError("remove", where + temporary, removed);
  int error = 0;
  {
    struct stat old {};
    const bool is_old = ::fstatat(folder, name.c_str(), &old, 0) == 0;
    const Descriptor made(folder, temporary, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW);
    // The new file keeps the rights of the old one. A file system without rights refuses: no matter.
    if (is_old && made.exists()) static_cast<void>(::fchmod(made.get(), old.st_mode & 0777));
    const bool is_written = made.exists() && write_all(made, bytes) && sync_file(made) &&
                            ::renameat(folder, temporary.c_str(), folder, name.c_str()) == 0;
    if (!is_written) error = errno;
  }
  if (error == 0) return;
  ::unlinkat(folder, temporary.c_str(), 0);  // if it fails, the next writer removes the file
  throw WriteError("write", where + name, error);
}

}  // namespace

bool make_folder(const std::string& path) {
  if (::mkdir(path.c_str(), 0777) != 0) {
    if (errno == EEXIST) return false;
    throw WriteError("make the folder", path, errno);
  }
  sync_parent(path);
  return true;
}

void replace_file(const std::string& path, std::string_view bytes) {
  namespace fs = std::filesystem;
  std::error_code error;
  const fs::file_type there = fs::status(path, error).type();
  if (fs::exists(fs::file_status(there)) && there != fs::file_type::regular)
    throw WriteError("write", path, "it is no regular file; name another");
  // What a link leads to is replaced, and the link stays.
  std::string target = path;
  if (fs::is_symlink(path, error))
    target =
        (fs::exists(path, error) ? fs::canonical(path, error)
                                 : fs::path(path).parent_path() / fs::read_symlink(path, error))
            .string();
  // No lock keeps another program from this file: each has a temporary one of its own.
  const std::string temporary = target + temporary_name + std::to_string(::getpid());
  replace_file(AT_FDCWD, "", target, temporary, bytes);
  sync_parent(target);
}

Folder::Folder(std::string path)
    : path_(std::move(path)), folder_(AT_FDCWD, path_, O_RDONLY | O_DIRECTORY) {
  if (!folder_.exists()) throw FileError("read", path_, errno);
}

bool Folder::has(const std::string& name) const {
  struct stat status {};
  return ::fstatat(folder_.get(), name.c_str(), &status, AT_SYMLINK_NOFOLLOW) == 0;
}

std::vector<std::string> Folder::names() const {
  std::error_code error;
  std::filesystem::directory_iterator entry;
  do entry = std::filesystem::directory_iterator(path_, error);
  while (error.value() == EINTR);
  std::vector<std::string> found;
  for (const std::filesystem::directory_iterator end; !error && entry != end;
       entry.increment(error))
    if (std::string name = entry->path().filename().string();
        name != lock_name && name != temporary_name)
      found.push_back(std::move(name));
  if (error) throw FileError("read", path_, error.value());
  std::sort(found.begin(), found.end());
  return found;
}

std::optional<Descriptor> Folder::find(const std::string& name) const {
  Descriptor opened(folder_.get(), name, O_RDONLY | O_NONBLOCK);
  if (!opened.exists() && errno == ENOENT) return {};
  return opened;
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
  const std::optional<ByteSource> found = open(name);
  if (!found) return {};
  return found->beginning(count);
}

bool Folder::is_removed() const {
  struct stat mine {};
  return ::fstat(folder_.get(), &mine) == 0 && mine.st_nlink == 0;
}

// The lock is on the folder itself, because a lock file could be removed while it is locked. Some
// network file systems cannot lock folders: there a file ".lock" is locked instead.
LockedFolder::LockedFolder(std::string path) : Folder(std::move(path)) {
  bool is_locked = try_lock(folder_);
  if (!is_locked && errno != EWOULDBLOCK) {
    lock_file_.emplace(folder_.get(), lock_name, O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK);
    is_locked = lock_file_->exists() && try_lock(*lock_file_);
  }
  if (!is_locked && errno == EWOULDBLOCK)
    throw FileError("use", path_, "another process is using it", EWOULDBLOCK);
  if (!is_locked) throw WriteError("lock", path_, errno);
  // What a writer that was killed has left. If it cannot be removed, replace() says so.
  ::unlinkat(folder_.get(), temporary_name, 0);
}

void LockedFolder::replace(const std::string& name, std::string_view bytes) const {
  replace_file(folder_.get(), path_ + "/", name, temporary_name, bytes);
  if (!sync_folder(folder_)) throw WriteError("sync", path_, errno);
}

}  // namespace fledge
