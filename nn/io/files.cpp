#include "nn/io/files.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <utility>

namespace fledge::inline FLEDGE_BUILD {

namespace {

[[noreturn]] void fail(const std::string& what, const std::string& path) {
  throw FileError("cannot " + what + " '" + path + "': " + std::strerror(errno));
}

// A descriptor that is closed however its owner ends.
class Descriptor {
 public:
  explicit Descriptor(int number) : number_(number) {}
  ~Descriptor() {
    if (number_ > 2) ::close(number_);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  int get() const { return number_; }
  bool open() const { return number_ >= 0; }
  int release() { return std::exchange(number_, -1); }

 private:
  int number_;
};

// Up to `size` bytes; fewer only at the end.
std::size_t read_some(int descriptor, char* to, std::size_t size, const std::string& path) {
  std::size_t done = 0;
  while (done < size) {
    const ssize_t got = ::read(descriptor, to + done, size - done);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) fail("read", path);
    if (got == 0) break;
    done += static_cast<std::size_t>(got);
  }
  return done;
}

std::string read_stream(int descriptor, std::uint64_t most, const std::string& path) {
  std::string bytes;
  for (std::size_t done = 0;; ) {
    bytes.resize(done + (std::size_t{1} << 16));
    const std::size_t got = read_some(descriptor, bytes.data() + done, bytes.size() - done, path);
    done += got;
    if (done > most) throw FileError("cannot read '" + path + "': it has more than " + std::to_string(most) + " bytes");
    if (done < bytes.size()) {
      bytes.resize(done);
      return bytes;
    }
  }
}

void sync_folder_of(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  const std::string folder = slash == std::string::npos ? "." : slash == 0 ? "/" : path.substr(0, slash);
  const Descriptor descriptor(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  // Some systems cannot sync a folder: EINVAL is no loss of data.
  if (!descriptor.open() || (::fsync(descriptor.get()) != 0 && errno != EINVAL)) fail("sync", folder);
}

}  // namespace

std::string read_file(const std::string& path, std::uint64_t most) {
  if (path == "-") return read_stream(0, most, "standard input");
  const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (!file.open()) fail("read", path);
  struct stat status {};
  if (::fstat(file.get(), &status) != 0) fail("read", path);
  if (!S_ISREG(status.st_mode))
    throw FileError("cannot read '" + path + "': it is " +
                    (S_ISDIR(status.st_mode) ? "a folder" : "no regular file"));
  const auto size = static_cast<std::uint64_t>(status.st_size);
  if (size > most)
    throw FileError("cannot read '" + path + "': it has " + std::to_string(size) +
                    " bytes, over " + std::to_string(most));
  std::string bytes(static_cast<std::size_t>(size), '\0');
  char more = 0;
  const bool whole = read_some(file.get(), bytes.data(), bytes.size(), path) == bytes.size();
  if (!whole || read_some(file.get(), &more, 1, path) != 0)
    throw FileError("cannot read '" + path + "': its size changed meanwhile");
  return bytes;
}

void write_file(const std::string& path, std::string_view bytes) {
  const std::string beside = path + ".tmp" + std::to_string(::getpid());
  {
    const Descriptor file(
        ::open(beside.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0666));
    if (!file.open()) fail("write", path);
    std::size_t done = 0;
    while (done < bytes.size()) {
      const ssize_t wrote = ::write(file.get(), bytes.data() + done, bytes.size() - done);
      if (wrote < 0 && errno == EINTR) continue;
      if (wrote <= 0) {
        const int reason = errno;
        ::unlink(beside.c_str());
        errno = reason;
        fail("write", path);
      }
      done += static_cast<std::size_t>(wrote);
    }
    if (::fsync(file.get()) != 0) {
      const int reason = errno;
      ::unlink(beside.c_str());
      errno = reason;
      fail("write", path);
    }
  }
  if (::rename(beside.c_str(), path.c_str()) != 0) {
    const int reason = errno;
    ::unlink(beside.c_str());
    errno = reason;
    fail("write", path);
  }
  sync_folder_of(path);
}

FolderLock::FolderLock(const std::string& folder) {
  const std::string path = folder + "/.lock";
  Descriptor file(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666));
  if (!file.open()) fail("lock", folder);
  if (::flock(file.get(), LOCK_EX | LOCK_NB) != 0) {
    if (errno == EWOULDBLOCK) throw FileError("another process is training in '" + folder + "'");
    fail("lock", folder);
  }
  descriptor_ = file.release();
}

FolderLock::~FolderLock() { ::close(descriptor_); }

std::uint64_t hash_of(std::string_view bytes) {
  std::uint64_t hash = 0xcbf29ce484222325u;
  for (const char c : bytes) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3u;
  return hash;
}

}  // namespace fledge::inline FLEDGE_BUILD
