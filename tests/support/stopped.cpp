#include "tests/support/stopped.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <stdexcept>

#include "tests/support/process.h"

namespace {

int changes_left = -1;  // until the one that stops the program or fails; negative: none does
int failure = 0;        // its error; 0: the program stops
constexpr int stopped = 77;

bool fails() {
  if (changes_left < 0 || changes_left-- > 0) return false;
  if (failure == 0) _exit(stopped);
  errno = failure;
  return true;
}

template <class... Arguments>
int change(long call, Arguments... arguments) {
  return fails() ? -1 : static_cast<int>(syscall(call, arguments...));
}

}  // namespace

// These stand in front of the C library's.
extern "C" {
int mkdir(const char* path, mode_t mode) noexcept {
  return change(SYS_mkdirat, AT_FDCWD, path, mode);
}
int mkdirat(int folder, const char* path, mode_t mode) noexcept {
  return change(SYS_mkdirat, folder, path, mode);
}
int rename(const char* from, const char* to) noexcept {
  return change(SYS_renameat2, AT_FDCWD, from, AT_FDCWD, to, 0);
}
int renameat(int from_folder, const char* from, int to_folder, const char* to) noexcept {
  return change(SYS_renameat2, from_folder, from, to_folder, to, 0);
}
int unlink(const char* path) noexcept { return change(SYS_unlinkat, AT_FDCWD, path, 0); }
int unlinkat(int folder, const char* path, int flags) noexcept {
  return change(SYS_unlinkat, folder, path, flags);
}
int rmdir(const char* path) noexcept { return change(SYS_unlinkat, AT_FDCWD, path, AT_REMOVEDIR); }
int fsync(int descriptor) { return change(SYS_fsync, descriptor); }
}

namespace testing {

bool ends_before(int changes, const std::function<void()>& body) {
  const Result result = run_here([&] {
    changes_left = changes;
    body();
    changes_left = -1;
    return 0;
  });
  if (result.status != 0 && result.status != stopped) throw std::runtime_error("the body failed");
  return result.status == 0;
}

std::string with_failure(int change_number, int error, const std::function<void()>& body) {
  changes_left = change_number;
  failure = error;
  std::string said;
  try {
    body();
  } catch (const std::exception& thrown) {
    said = thrown.what();
  }
  changes_left = -1;
  failure = 0;
  return said;
}

}  // namespace testing
