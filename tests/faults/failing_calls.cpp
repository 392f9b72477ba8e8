// A library for LD_PRELOAD (Linux). It stands between a program and the system's calls on files and
// threads: it numbers them, records them, and makes a chosen one fail. record.h says how to ask.
//
// It sees what the program and libstdc++ call by name. It does not see calls inside the C library:
// the writes of printf, the mmap of malloc. fsync is recorded and not made: tests/faults/disk.h
// simulates power cuts, and nothing here needs to outlive a real one.
#include <dirent.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <climits>
#include <csignal>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string_view>

#include "tests/faults/record.h"

// The C library's function of the same name, with the same arguments.
#define REAL(name) reinterpret_cast<decltype(::name)*>(dlsym(RTLD_NEXT, #name))

namespace fledge::faults {

/// What the environment asks for.
struct Wish {
  unsigned at = 0;
  std::string_view what;  // "28", "28+", "short", "kill", …
  int error = 0;          // 0: the call is made
  int log = -1;

  Wish() {
    if (const char* text = std::getenv("FLEDGE_CALLS_FAIL")) {
      char* end = nullptr;
      at = static_cast<unsigned>(std::strtoul(text, &end, 10));
      what = end + 1;
      error = std::atoi(end + 1);
    }
    if (const char* path = std::getenv("FLEDGE_CALLS_LOG")) {
      const int file = REAL(open)(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
      // A high number, so that the program's files have the numbers that they would have.
      log = REAL(fcntl)(file, F_DUPFD_CLOEXEC, 500);
      REAL(close)(file);
    }
  }
};

inline const Wish& wish() {
  static const Wish asked;
  return asked;
}
inline std::atomic<unsigned> calls_made{0};
inline std::atomic<int> failing_kind{-1};  // all calls of this kind fail

class Call {
 public:
  Call(Kind kind, int descriptor) {
    record.kind = kind;
    record.descriptor = descriptor;
  }
  /// A call with a path, relative to an open folder or to AT_FDCWD.
  Call(Kind kind, int folder, const char* path) : Call(kind, -1) {
    set_absolute(path_, folder, path);
  }
  void set_target(int folder, const char* path) { set_absolute(to_, folder, path); }

  /// Makes the call, unless it is to fail: then errno is set and `failure` returned.
  template <typename Result, typename Make>
  Result make(Result failure, Make real_call) {
    record.index = ++calls_made;
    const bool fails = is_failing();
    if (fails) errno = wish().error;
    const Result result = fails ? failure : real_call();
    const int error = errno;
    record.error = result == failure ? error : 0;
    record.result = number(result);
    write_record();
    errno = error;
    return result;
  }
  /// The bytes to ask for when `bytes` are wanted. While the call is made.
  std::size_t share(std::size_t bytes) const {
    if (record.index != wish().at) return bytes;
    return wish().what == "zero" ? 0 : wish().what == "short" ? (bytes + 1) / 2 : bytes;
  }

  Record record;
  const void* data = nullptr;  // of a write

 private:
  static std::int64_t number(std::int64_t value) { return value; }
  static std::int64_t number(const void* value) { return value == nullptr ? -1 : 0; }

  // "/a/b" for a path as the call has it.
  static void set_absolute(char* to, int folder, const char* path) {
    char base[PATH_MAX / 2] = "";
    if (path[0] != '/' && folder == AT_FDCWD) {
      if (getcwd(base, sizeof base) == nullptr) base[0] = '\0';
    } else if (path[0] != '/') {
      char link[64];
      std::snprintf(link, sizeof link, "/proc/self/fd/%d", folder);
      base[std::max<ssize_t>(readlink(link, base, sizeof base - 1), 0)] = '\0';
    }
    std::snprintf(to, PATH_MAX, "%s%s%.2000s", base, path[0] == '/' ? "" : "/", path);
  }

  bool is_failing() const {
    if (record.index != wish().at)
      // A full disk can still be read: of the calls of open(), only those that make a file fail.
      return failing_kind == static_cast<int>(record.kind) &&
             (record.kind != Kind::open || wish().error != ENOSPC || (record.flags & O_CREAT) != 0);
    if (wish().what == "kill") raise(SIGKILL);
    if (wish().what == "stop") raise(SIGSTOP);
    if (wish().what == "interrupt") raise(SIGINT);
    if (wish().what.ends_with('+')) failing_kind = static_cast<int>(record.kind);
    return wish().error != 0;
  }

  void write_record() {
    if (wish().log < 0) return;
    record.path_bytes = static_cast<std::uint32_t>(std::strlen(path_));
    record.to_bytes = static_cast<std::uint32_t>(std::strlen(to_));
    record.data_bytes =
        data != nullptr && record.result > 0 ? static_cast<std::uint64_t>(record.result) : 0;
    const iovec parts[] = {{&record, sizeof record},
                           {path_, record.path_bytes},
                           {to_, record.to_bytes},
                           {const_cast<void*>(data), record.data_bytes}};
    if (writev(wish().log, parts, 4) < 0) std::abort();
  }

  char path_[PATH_MAX] = "", to_[PATH_MAX] = "";
};

}  // namespace fledge::faults

using fledge::faults::Call;
using fledge::faults::Kind;

namespace {

int open_file(int folder, const char* path, int flags, va_list rest) {
  const mode_t mode = (flags & O_CREAT) != 0 ? va_arg(rest, mode_t) : 0;
  Call call(Kind::open, folder, path);
  call.record.flags = static_cast<unsigned>(flags);
  return call.make(-1, [&] { return REAL(openat)(folder, path, flags, mode); });
}

}  // namespace

extern "C" {

int openat(int folder, const char* path, int flags, ...) {
  va_list rest;
  va_start(rest, flags);
  const int result = open_file(folder, path, flags, rest);
  va_end(rest);
  return result;
}
int open(const char* path, int flags, ...) {
  va_list rest;
  va_start(rest, flags);
  const int result = open_file(AT_FDCWD, path, flags, rest);
  va_end(rest);
  return result;
}
// Linux closes the descriptor whatever it returns.
int close(int descriptor) {
  const auto made = [&] { return REAL(close)(descriptor); };
  const int result = Call(Kind::close, descriptor).make(-1, made);
  if (result != 0 && errno != EBADF) {
    const int error = errno;
    made();
    errno = error;
  }
  return result;
}

ssize_t read(int descriptor, void* to, size_t size) {
  Call call(Kind::read, descriptor);
  return call.make(ssize_t{-1}, [&] { return REAL(read)(descriptor, to, call.share(size)); });
}
ssize_t pread(int descriptor, void* to, size_t size, off_t offset) {
  Call call(Kind::read, descriptor);
  return call.make(ssize_t{-1},
                   [&] { return REAL(pread)(descriptor, to, call.share(size), offset); });
}
ssize_t write(int descriptor, const void* from, size_t size) {
  Call call(Kind::write, descriptor);
  call.data = from;
  return call.make(ssize_t{-1}, [&] {
    const ssize_t written = REAL(write)(descriptor, from, call.share(size));
    const off_t now = REAL(lseek)(descriptor, 0, SEEK_CUR);
    call.record.offset = now < written ? 0 : static_cast<std::uint64_t>(now - written);
    return written;
  });
}
off_t lseek(int descriptor, off_t offset, int whence) noexcept {
  Call call(Kind::seek, descriptor);
  return call.make(off_t{-1}, [&] { return REAL(lseek)(descriptor, offset, whence); });
}
int fsync(int descriptor) {
  return Call(Kind::sync, descriptor).make(-1, [] { return 0; });
}
int fdatasync(int descriptor) { return fsync(descriptor); }

int renameat(int from_folder, const char* from, int to_folder, const char* to) noexcept {
  Call call(Kind::rename, from_folder, from);
  call.set_target(to_folder, to);
  return call.make(-1, [&] { return REAL(renameat)(from_folder, from, to_folder, to); });
}
int rename(const char* from, const char* to) noexcept {
  return renameat(AT_FDCWD, from, AT_FDCWD, to);
}
int unlinkat(int folder, const char* path, int flags) noexcept {
  const Kind kind = (flags & AT_REMOVEDIR) != 0 ? Kind::remove_folder : Kind::unlink;
  return Call(kind, folder, path).make(-1, [&] { return REAL(unlinkat)(folder, path, flags); });
}
int unlink(const char* path) noexcept { return unlinkat(AT_FDCWD, path, 0); }
int rmdir(const char* path) noexcept { return unlinkat(AT_FDCWD, path, AT_REMOVEDIR); }
int mkdirat(int folder, const char* path, mode_t mode) noexcept {
  Call call(Kind::make_folder, folder, path);
  return call.make(-1, [&] { return REAL(mkdirat)(folder, path, mode); });
}
int mkdir(const char* path, mode_t mode) noexcept { return mkdirat(AT_FDCWD, path, mode); }

int fstatat(int folder, const char* path, struct stat* to, int flags) noexcept {
  Call call(Kind::status, folder, path);
  return call.make(-1, [&] { return REAL(fstatat)(folder, path, to, flags); });
}
int stat(const char* path, struct stat* to) noexcept { return fstatat(AT_FDCWD, path, to, 0); }
int lstat(const char* path, struct stat* to) noexcept {
  return fstatat(AT_FDCWD, path, to, AT_SYMLINK_NOFOLLOW);
}
int fstat(int descriptor, struct stat* to) noexcept {
  return Call(Kind::status, descriptor).make(-1, [&] { return REAL(fstat)(descriptor, to); });
}

int flock(int descriptor, int operation) noexcept {
  return Call(Kind::lock, descriptor).make(-1, [&] { return REAL(flock)(descriptor, operation); });
}
DIR* opendir(const char* path) {
  return Call(Kind::list, AT_FDCWD, path).make<DIR*>(nullptr, [&] { return REAL(opendir)(path); });
}
DIR* fdopendir(int descriptor) {
  Call call(Kind::list, descriptor);
  return call.make<DIR*>(nullptr, [&] { return REAL(fdopendir)(descriptor); });
}
dirent* readdir(DIR* folder) {
  return Call(Kind::list, -1).make<dirent*>(nullptr, [&] { return REAL(readdir)(folder); });
}

// It returns its error instead of setting errno.
int pthread_create(pthread_t* thread, const pthread_attr_t* attributes, void* (*start)(void*),
                   void* argument) {
  const int result = Call(Kind::thread, -1).make(-1, [&] {
    return REAL(pthread_create)(thread, attributes, start, argument);
  });
  return result < 0 ? errno : result;
}

}  // extern "C"
