// One call between a program and the system: numbered, made or failed, and recorded. For
// failing_calls.cpp alone.
#pragma once

#include <dlfcn.h>
#include <fcntl.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <climits>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "tests/faults/record.h"

namespace fledge::faults {

/// The C library's function of this name.
template <typename Function>
Function* real(const char* name) {
  return reinterpret_cast<Function*>(dlsym(RTLD_NEXT, name));
}

/// What the environment asks for.
struct Wish {
  enum class What { fail, half, nothing, kill, stop, interrupt };
  unsigned at = 0;
  What what = What::fail;
  int error = 0;
  bool stays = false;  // all later calls of the same kind fail too
  int log = -1;

  Wish() {
    if (const char* text = std::getenv("FLEDGE_CALLS_FAIL")) read(text);
    if (const char* path = std::getenv("FLEDGE_CALLS_LOG")) {
      const int file =
          real<decltype(::open)>("open")(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
      // A high number, so that the program's files have the numbers that they would have.
      log = real<decltype(::fcntl)>("fcntl")(file, F_DUPFD_CLOEXEC, 500);
      real<decltype(::close)>("close")(file);
    }
  }

 private:
  void read(const char* text) {
    char* end = nullptr;
    at = static_cast<unsigned>(std::strtoul(text, &end, 10));
    const char* word = end + 1;
    const auto is = [&](const char* name) { return std::strcmp(word, name) == 0; };
    if (is("short")) what = What::half;
    if (is("zero")) what = What::nothing;
    if (is("kill")) what = What::kill;
    if (is("stop")) what = What::stop;
    if (is("interrupt")) what = What::interrupt;
    if (what != What::fail) return;
    error = static_cast<int>(std::strtol(word, &end, 10));
    stays = *end == '+';
  }
};

inline const Wish& wish() {
  static const Wish asked;
  return asked;
}
inline std::atomic<unsigned> calls_made{0};
inline std::atomic<bool> keeps_failing{false};
inline std::atomic<Kind> failing_kind{};

class Call {
 public:
  Call(Kind kind, int descriptor) {
    record.kind = kind;
    record.descriptor = descriptor;
    record.process = getpid();
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
    Result result = failure;
    if (is_failing()) {
      errno = wish().error;
    } else {
      result = real_call();
    }
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
    if (wish().what == Wish::What::nothing) return 0;
    return wish().what == Wish::What::half ? (bytes + 1) / 2 : bytes;
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
    if (record.index == wish().at) {
      switch (wish().what) {
        case Wish::What::kill:
          raise(SIGKILL);
          break;
        case Wish::What::stop:
          raise(SIGSTOP);
          break;
        case Wish::What::interrupt:
          raise(SIGINT);
          break;
        case Wish::What::half:
        case Wish::What::nothing:
          break;
        case Wish::What::fail:
          failing_kind = record.kind;
          keeps_failing = wish().stays;
          return true;
      }
      return false;
    }
    // A full disk can still be read: of the calls of open(), only those that make a file fail.
    return keeps_failing && failing_kind.load() == record.kind &&
           (record.kind != Kind::open || wish().error != ENOSPC || (record.flags & O_CREAT) != 0);
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
