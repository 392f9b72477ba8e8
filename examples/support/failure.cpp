#include "examples/support/failure.h"

#include <sys/resource.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <exception>
#include <new>
#include <utility>

namespace support {

namespace {

char program_name[32] = "fledge";

// Called for an exception that nothing catches, and without one when memory for it is missing.
[[noreturn]] void end_program() noexcept {
  static bool ended = false;
  if (std::exchange(ended, true)) _exit(1);
  try {
    if (std::current_exception()) throw;
    write_failure(out_of_memory);
  } catch (const std::bad_alloc&) {
    write_failure(out_of_memory);
  } catch (const std::exception& error) {
    write_failure("stopped by an internal error: ", error.what());
  } catch (...) {
    write_failure("stopped by an internal error");
  }
  _exit(1);
}

// Runs before the constructors of static objects, whose exceptions nothing can catch.
__attribute__((constructor(101))) void set_handler() { std::set_terminate(end_program); }

}  // namespace

void set_program_name(std::string_view program) noexcept {
  program_name[program.copy(program_name, sizeof program_name - 1)] = '\0';
}

void write_failure(std::string_view sentence, std::string_view detail) noexcept {
  char line[501];
  std::size_t size = 0;
  for (const std::string_view part :
       {std::string_view(program_name), std::string_view(": "), sentence, detail})
    for (const char c : part)
      if (size < sizeof line - 1) line[size++] = c >= ' ' && c <= '~' ? c : '?';
  line[size++] = '\n';
  while (write(STDERR_FILENO, line, size) < 0 && errno == EINTR) {
  }
}

void require_stack() {
  rlimit limit{};
  if (getrlimit(RLIMIT_STACK, &limit) != 0 || limit.rlim_cur >= least_stack) return;
  char text[100];
  std::snprintf(text, sizeof text, "needs a stack of %lu kB: the limit is %llu kB",
                least_stack / 1024, static_cast<unsigned long long>(limit.rlim_cur / 1024));
  write_failure(text, "; raise it with 'ulimit -s 8192'");
  _exit(1);
}

}  // namespace support
