// A library for LD_PRELOAD (Linux). It stands between a program and the system's calls on files and
// threads: it numbers them, records them, and makes a chosen one fail. record.h says how to ask.
//
// It sees what the program and libstdc++ call by name. It does not see calls inside the C library:
// the writes of printf, the mmap of malloc. fsync is recorded and not made: tests/faults/disk.h
// simulates power cuts, and nothing here needs to outlive a real one.
#include <dirent.h>
#include <pthread.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include <cstdarg>

#include "tests/faults/call.h"

using fledge::faults::Call;
using fledge::faults::Kind;
using fledge::faults::real;

// The C library's function of the same name, with the same arguments.
#define REAL(name) real<decltype(::name)>(#name)

namespace {

int open_file(int folder, const char* path, int flags, mode_t mode) {
  Call call(Kind::open, folder, path);
  call.record.flags = static_cast<unsigned>(flags);
  return call.make(-1, [&] { return REAL(openat)(folder, path, flags, mode); });
}

// Where the descriptor stands after so many bytes were written, less those bytes.
std::uint64_t offset_before(int descriptor, ssize_t written) {
  const off_t now = REAL(lseek)(descriptor, 0, SEEK_CUR);
  return now < written ? 0 : static_cast<std::uint64_t>(now - written);
}

}  // namespace

extern "C" {

int open(const char* path, int flags, ...) {
  va_list rest;
  va_start(rest, flags);
  const mode_t mode = (flags & O_CREAT) != 0 ? va_arg(rest, mode_t) : 0;
  va_end(rest);
  return open_file(AT_FDCWD, path, flags, mode);
}
int openat(int folder, const char* path, int flags, ...) {
  va_list rest;
  va_start(rest, flags);
  const mode_t mode = (flags & O_CREAT) != 0 ? va_arg(rest, mode_t) : 0;
  va_end(rest);
  return open_file(folder, path, flags, mode);
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
    call.record.offset = offset_before(descriptor, written);
    return written;
  });
}
ssize_t pwrite(int descriptor, const void* from, size_t size, off_t offset) {
  Call call(Kind::write, descriptor);
  call.data = from;
  call.record.offset = static_cast<std::uint64_t>(offset);
  return call.make(ssize_t{-1},
                   [&] { return REAL(pwrite)(descriptor, from, call.share(size), offset); });
}
off_t lseek(int descriptor, off_t offset, int whence) noexcept {
  return Call(Kind::seek, descriptor).make(off_t{-1}, [&] {
    return REAL(lseek)(descriptor, offset, whence);
  });
}
int ftruncate(int descriptor, off_t size) noexcept {
  Call call(Kind::cut, descriptor);
  call.record.offset = static_cast<std::uint64_t>(size);
  return call.make(-1, [&] { return REAL(ftruncate)(descriptor, size); });
}
int fsync(int descriptor) {
  return Call(Kind::sync, descriptor).make(-1, [] { return 0; });
}
int fdatasync(int descriptor) {
  return Call(Kind::sync, descriptor).make(-1, [] { return 0; });
}

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
  return Call(Kind::make_folder, folder, path).make(-1, [&] {
    return REAL(mkdirat)(folder, path, mode);
  });
}
int mkdir(const char* path, mode_t mode) noexcept { return mkdirat(AT_FDCWD, path, mode); }

int fstatat(int folder, const char* path, struct stat* to, int flags) noexcept {
  return Call(Kind::status, folder, path).make(-1, [&] {
    return REAL(fstatat)(folder, path, to, flags);
  });
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
int dup(int descriptor) noexcept {
  return Call(Kind::duplicate, descriptor).make(-1, [&] { return REAL(dup)(descriptor); });
}
int fcntl(int descriptor, int command, ...) {
  va_list rest;
  va_start(rest, command);
  void* const argument = va_arg(rest, void*);  // a number or a pointer: as wide as either
  va_end(rest);
  const auto made = [&] { return REAL(fcntl)(descriptor, command, argument); };
  if (command != F_DUPFD && command != F_DUPFD_CLOEXEC) return made();
  return Call(Kind::duplicate, descriptor).make(-1, made);
}

DIR* opendir(const char* path) {
  return Call(Kind::list, AT_FDCWD, path).make<DIR*>(nullptr, [&] { return REAL(opendir)(path); });
}
DIR* fdopendir(int descriptor) {
  return Call(Kind::list, descriptor).make<DIR*>(nullptr, [&] {
    return REAL(fdopendir)(descriptor);
  });
}
dirent* readdir(DIR* folder) {
  return Call(Kind::list, -1).make<dirent*>(nullptr, [&] { return REAL(readdir)(folder); });
}

void* mmap(void* at, size_t size, int access, int flags, int descriptor, off_t offset) noexcept {
  return Call(Kind::map, descriptor).make(MAP_FAILED, [&] {
    return REAL(mmap)(at, size, access, flags, descriptor, offset);
  });
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
