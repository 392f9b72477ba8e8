#include "examples/support/failure.h"

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <memory>
#include <new>
#include <utility>

namespace support {

namespace {

char program_name[32] = "fledge";

// Not by operator new: it throws, and without memory for an exception this function runs again.
bool memory_is_left() {
  const std::unique_ptr<void, void (*)(void*)> block(std::aligned_alloc(64, 1 << 16), std::free);
  return block != nullptr;
}

// Called for an exception that nothing catches, and when memory for an exception is missing.
[[noreturn]] void end_program() noexcept {
  static bool ended = false;
  if (std::exchange(ended, true)) _exit(1);
  try {
    if (std::current_exception()) throw;
    write_failure(program_name,
                  {memory_is_left() ? "stopped by an internal error" : out_of_memory});
  } catch (const std::bad_alloc&) {
    write_failure(program_name, {out_of_memory});
  } catch (const std::exception& error) {
    write_failure(program_name, {"stopped by an internal error: ", error.what()});
  } catch (...) {
    write_failure(program_name, {"stopped by an internal error"});
  }
  _exit(1);
}

// Runs before the constructors of static objects, whose exceptions nothing can catch.
__attribute__((constructor(101))) void set_handler() { std::set_terminate(end_program); }

}  // namespace

void set_program_name(std::string_view program) noexcept {
  program_name[program.copy(program_name, sizeof program_name - 1)] = '\0';
}

void write_failure(std::string_view program,
                   std::initializer_list<std::string_view> parts) noexcept {
  char line[501];
  std::size_t size = 0;
  const auto add = [&](std::string_view text) {
    for (const char c : text)
      if (size < sizeof line - 1) line[size++] = c >= ' ' && c <= '~' ? c : '?';
  };
  add(program);
  add(": ");
  for (const std::string_view part : parts) add(part);
  line[size++] = '\n';
  for (std::size_t done = 0; done < size;) {
    const ssize_t written = write(STDERR_FILENO, line + done, size - done);
    if (written <= 0 && errno != EINTR) return;
    done += static_cast<std::size_t>(std::max<ssize_t>(written, 0));
  }
}

void require_stack(std::string_view program) {
  rlimit limit{};
  if (getrlimit(RLIMIT_STACK, &limit) != 0 || limit.rlim_cur >= least_stack) return;
  char text[100];
  std::snprintf(text, sizeof text, "needs a stack of %lu kB: the limit is %llu kB",
                least_stack / 1024, static_cast<unsigned long long>(limit.rlim_cur / 1024));
  write_failure(program, {text, "; raise it with 'ulimit -s 8192'"});
  _exit(1);
}

}  // namespace support
