// Makes the n-th allocation of a program fail. Preloaded (LD_PRELOAD), for programs with glibc.
//
//   FLEDGE_FAIL_MALLOC=n        the n-th allocation fails, 1 is the first
//   FLEDGE_FAIL_MALLOC=n+       that one and all later ones
//   FLEDGE_COUNT_MALLOC=FILE    at the end the number of allocations is written to FILE
//
// Allocations before main() count, also those of the C++ library. With several threads the order of
// allocations is not the same in each run: set FLEDGE_THREADS=1.
#include <fcntl.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstdlib>

extern "C" {

void* __libc_malloc(std::size_t bytes);
void* __libc_calloc(std::size_t count, std::size_t bytes);
void* __libc_realloc(void* block, std::size_t bytes);
void* __libc_memalign(std::size_t alignment, std::size_t bytes);
extern char** environ;

}  // extern "C"

namespace {

std::atomic<long> allocations{0};
std::atomic<bool> is_known{false};
long first = 0, last = -1;  // of the allocations that fail

bool fails() {
  // Read at the first allocation, which is long before main().
  if (!is_known && environ != nullptr) {
    if (const char* text = std::getenv("FLEDGE_FAIL_MALLOC")) {
      while (*text >= '0' && *text <= '9') first = 10 * first + (*text++ - '0');
      last = *text == '+' ? INT64_MAX : first;
    }
    is_known = true;
  }
  const long n = ++allocations;
  if (n < first || n > last) return false;
  errno = ENOMEM;
  return true;
}

__attribute__((destructor)) void write_count() {
  const char* path = std::getenv("FLEDGE_COUNT_MALLOC");
  if (path == nullptr) return;
  char digits[24];
  char* begin = digits + sizeof digits;
  *--begin = '\n';
  for (long n = allocations; n > 0; n /= 10) *--begin = static_cast<char>('0' + n % 10);
  const int file = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  if (file < 0 || write(file, begin, static_cast<std::size_t>(digits + sizeof digits - begin)) < 0)
    _exit(99);
}

}  // namespace

extern "C" {

void* malloc(std::size_t bytes) { return fails() ? nullptr : __libc_malloc(bytes); }
void* calloc(std::size_t count, std::size_t bytes) {
  return fails() ? nullptr : __libc_calloc(count, bytes);
}
void* realloc(void* block, std::size_t bytes) {
  return fails() ? nullptr : __libc_realloc(block, bytes);
}
void* memalign(std::size_t alignment, std::size_t bytes) {
  return fails() ? nullptr : __libc_memalign(alignment, bytes);
}
void* aligned_alloc(std::size_t alignment, std::size_t bytes) { return memalign(alignment, bytes); }
int posix_memalign(void** block, std::size_t alignment, std::size_t bytes) {
  *block = memalign(alignment, bytes);
  return *block == nullptr ? ENOMEM : 0;
}

}  // extern "C"
