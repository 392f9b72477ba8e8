#include "examples/support/run_main.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <exception>
#include <new>
#include <system_error>

#include "examples/support/text.h"

namespace support {

namespace {

constexpr std::string_view out_of_memory = "out of memory: use smaller sizes";

char program_name[32] = "fledge";  // before messages that must not allocate
std::string command_name;          // before all others

/// Writes "PROGRAM: SENTENCE DETAIL" (without a space between the two) and the end of the line to
/// stderr and allocates nothing. What exceeds 500 bytes is cut, and each byte that is no printable
/// ASCII character becomes '?'.
void write_failure(std::string_view sentence, std::string_view detail = "") noexcept {
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

/// "NAME: MESSAGE", and below the message the advice if there is one. A terminal gets whole words.
void say(std::string_view program, std::string_view message, std::string_view advice = "") {
  std::fflush(stdout);  // results before the message about them
  const std::string indent(program.size() + 2, ' ');
  const auto shown = [&](const std::string& line) {
    if (!is_terminal(stderr)) return line + "\n";  // two lines, for programs
    return wrapped(line, terminal_width(stderr), static_cast<int>(indent.size())) + "\n";
  };
  std::string text = shown(std::string(program) + ": " + printable(message));
  if (!advice.empty()) text += shown(indent + printable(advice));
  std::fputs(text.c_str(), stderr);
}

/// A closed standard stream leaves its number free: the next file to be opened would get that
/// number, and output for the stream would go into the file. So /dev/null takes the number, opened
/// in the mode that makes each read of stdin, and each write to the others, an error.
void hold_closed_streams() {
  for (int stream = STDIN_FILENO; stream <= STDERR_FILENO; ++stream)
    if (fcntl(stream, F_GETFD) < 0)
      static_cast<void>(open("/dev/null", stream == STDIN_FILENO ? O_WRONLY : O_RDONLY));
}

int status_of(const std::function<int()>& body) {
  try {
    return body();
  } catch (const HelpRequest& request) {
    std::fputs(request.what(), stdout);
    return 0;
  } catch (const CommandError& error) {
    say(command_name, error.what(), error.advice);
    return static_cast<int>(error.status);
  } catch (const fledge::WriteError& error) {
    say(command_name, error.what(), remedy(error.error_number) + "; then try again");
  } catch (const std::bad_alloc&) {
    throw;
  } catch (const std::exception& error) {
    say(command_name, error.what());
  } catch (...) {
    say(command_name, "stopped by an error without a message");
  }
  return 1;
}

/// Results that stdout did not take are a failure of the program.
int status_of_output(int status) {
  errno = 0;
  const bool flushed = std::fflush(stdout) == 0;
  if (flushed && !std::ferror(stdout)) return status;
  int reason = errno;
  if (flushed) {  // an earlier write failed, and its errno is lost: another one fails for the same
    std::clearerr(stdout);
    reason = std::putchar('\n') == EOF || std::fflush(stdout) != 0 ? errno : 0;
  }
  std::string message = "cannot write to standard output";
  if (reason != 0) message += ": " + std::generic_category().message(reason);
  say(command_name, message, remedy(reason) + "; then try again");
  return status == 0 ? 1 : status;
}

}  // namespace

void set_command_name(std::string name) { command_name = std::move(name); }

std::string version_of(std::string_view program) {
  return std::string(program.substr(0, program.find(' '))) + " " + FLEDGE_VERSION;
}

double peak_megabytes() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
#ifdef __APPLE__
  constexpr double in_a_megabyte = 1024 * 1024;  // ru_maxrss counts bytes here, kilobytes elsewhere
#else
  constexpr double in_a_megabyte = 1024;
#endif
  return static_cast<double>(usage.ru_maxrss) / in_a_megabyte;
}

int run_main(std::string_view program, const std::function<int()>& body) {
  program_name[program.copy(program_name, sizeof program_name - 1)] = '\0';
  set_command_name(std::string(program));
  hold_closed_streams();
  std::signal(SIGXFSZ, SIG_IGN);  // a file that may grow no further is an error of its write
  try {
    return status_of_output(status_of(body));
  } catch (const std::bad_alloc&) {  // also of a message about another error
    std::fflush(stdout);
    write_failure(out_of_memory);
    return 1;
  }
}

}  // namespace support
