// The lock of a folder, and the replacement of several files at once.
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <fstream>
#include <sstream>

#include "nn/io/folder.h"

namespace fledge {

namespace {

bool try_lock(int descriptor) {
  int result = 0;
  do result = ::flock(descriptor, LOCK_EX | LOCK_NB);
  while (result != 0 && errno == EINTR);
  return result == 0;
}

// The process that holds the lock, such as "process 123". It stands in /proc/locks, on Linux:
// "1: FLOCK  ADVISORY  WRITE 123 fe:00:247066 0 EOF".
std::string owner_of(int descriptor) {
  struct stat status {};
  if (::fstat(descriptor, &status) != 0) return "another process";
  const std::string inode = ":" + std::to_string(status.st_ino);
  std::ifstream table("/proc/locks");
  for (std::string line; std::getline(table, line);) {
    std::istringstream words(line);
    std::string number, kind, strength, access, process, file;
    words >> number >> kind >> strength >> access >> process >> file;
    const bool same = file.size() > inode.size() &&
                      file.compare(file.size() - inode.size(), inode.size(), inode) == 0;
    if (kind == "FLOCK" && same && process.find_first_not_of("0123456789") == std::string::npos &&
        process != "0")
      return "process " + process;
  }
  return "another process";
}

}  // namespace

LockedFolder::LockedFolder(std::string path, std::vector<std::string> names)
    : Folder(std::move(path), std::move(names)) {
  lock();
  remove_folder(committed, Contents::move);
  remove_folder(uncommitted, Contents::discard);
}

// The lock is on the folder itself, because a lock file could be removed while it is locked.
// Earlier versions locked a file ".lock", so that file is locked too if it exists. On network file
// systems that cannot lock folders, .lock is created and locked instead.
void LockedFolder::lock() {
  const auto busy = [&](int descriptor) {
    throw LockHeld(file_problem("use", path_, owner_of(descriptor) + " is using it"));
  };
  const bool locked = try_lock(folder_.get());
  if (!locked && errno == EWOULDBLOCK) busy(folder_.get());
  old_lock_ = Descriptor(folder_.get(), lock_name,
                         (locked ? O_RDONLY : O_RDWR | O_CREAT) | O_NOFOLLOW | O_NONBLOCK);
  struct stat status {};
  if (old_lock_.exists() && ::fstat(old_lock_.get(), &status) == 0 && S_ISREG(status.st_mode)) {
    const bool locks_file = try_lock(old_lock_.get());
    if (!locks_file && errno == EWOULDBLOCK) busy(old_lock_.get());
    struct stat named {};
    const bool is_named = ::fstatat(folder_.get(), lock_name, &named, AT_SYMLINK_NOFOLLOW) == 0 &&
                          named.st_ino == status.st_ino;
    if (!locked && !locks_file) fail_writing("lock", path_, errno);
    if (!locked && !is_named) busy(old_lock_.get());
  } else if (!locked) {
    fail_writing("lock", path_, errno);
  }
  if (!is_at_its_path())
    throw FileError(file_problem("use", path_, "it was moved or replaced just now"));
}

void LockedFolder::write_uncommitted(const NewFiles& files) const {
  const int folder = folder_.get();
  if (::mkdirat(folder, uncommitted, 0777) != 0) fail_writing("write", file(uncommitted), errno);
  const Descriptor inside(folder, uncommitted, O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
  if (!inside.exists()) fail_writing("write", file(uncommitted), errno);
  for (const auto& [name, bytes] : files) {
    struct stat status {};
    if (::fstatat(folder, name.c_str(), &status, AT_SYMLINK_NOFOLLOW) == 0 &&
        !S_ISREG(status.st_mode) && !S_ISLNK(status.st_mode))  // the rename replaces a link
      throw WriteError(file_problem("write", file(name), "it is no regular file"));
    Descriptor made(inside.get(), name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW);
    if (!made.exists() || !write_all(made.get(), bytes) || !sync_file(made.get()) || !made.close())
      fail_writing("write", file(name), errno);
  }
  if (!sync_folder(inside.get())) fail_writing("write", file(uncommitted), errno);
}

// Removes the folder `uncommitted` or `committed`, if it exists. Its files are moved to their places
// or discarded. A file with a foreign name is an error, and then no file is touched.
void LockedFolder::remove_folder(const char* name, Contents contents) const {
  const int folder = folder_.get();
  const Descriptor inside(folder, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
  if (!inside.exists() && errno == ENOENT) return;
  const std::string path = file(name);
  if (!inside.exists()) fail_writing("tidy", path, errno);
  const std::vector<std::string> found = names_in(inside.get(), path);
  for (const std::string& one : found)
    if (!is_ours(one))
      throw WriteError(file_problem("tidy", path,
                                    "it holds the file " + in_quotes(one) +
                                        ", which fledge did not write: move it to another folder"));
  for (const std::string& one : found) {
    if (contents == Contents::move &&
        ::renameat(inside.get(), one.c_str(), folder, one.c_str()) != 0)
      fail_writing("move the new", file(one), errno);
    // If both names are links to the same file, renameat() leaves both.
    if (::unlinkat(inside.get(), one.c_str(), 0) != 0 && errno != ENOENT)
      fail_writing("tidy", path + "/" + one, errno);
  }
  if (contents == Contents::move && !sync_folder(folder)) fail_writing("sync", path_, errno);
  if (::unlinkat(folder, name, AT_REMOVEDIR) != 0) fail_writing("tidy", path, errno);
}

void LockedFolder::replace(const NewFiles& files) {
  remove_folder(committed, Contents::move);
  remove_folder(uncommitted, Contents::discard);
  try {
    write_uncommitted(files);
    if (::renameat(folder_.get(), uncommitted, folder_.get(), committed) != 0)
      fail_writing("write", file(committed), errno);
  } catch (const WriteError&) {
    try {
      remove_folder(uncommitted, Contents::discard);
    } catch (const FileError&) {  // the next writer removes it
    }
    throw;
  }
  // From here on every reader sees the new files.
  int sync_error = 0;
  if (!sync_folder(folder_.get())) sync_error = errno;
  try {
    remove_folder(committed, Contents::move);
  } catch (const FileError& error) {
    throw WriteError(
        std::string("the new files are saved, but not all in their places: ") + error.what(),
        error.error_number);
  }
  if (sync_error != 0)
    throw WriteError("the new files are saved, but a power cut may lose them: " +
                         file_problem("sync", path_, reason_of(sync_error)),
                     sync_error);
}

}  // namespace fledge
