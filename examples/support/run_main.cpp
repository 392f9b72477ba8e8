#include "examples/support/run_main.h"

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <new>
#include <system_error>
#include <utility>

#include "examples/support/errors.h"
#include "examples/support/failure.h"
#include "examples/support/terminal.h"
#include "examples/support/text.h"

namespace support {

namespace {

std::string command_name;

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

/// Whether the reader of stdout has closed the pipe. errno may be of a later call than that write.
bool reader_is_gone() {
  pollfd out{STDOUT_FILENO, POLLOUT, 0};
  return poll(&out, 1, 0) == 1 && (out.revents & POLLERR) != 0;
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
    say(command_name, error.what(), remedy(error) + "; then try again");
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
  if (!reader_is_gone()) {
    if (flushed) {  // an earlier write failed, and its errno is lost: another one fails for the same
      std::clearerr(stdout);
      reason = std::putchar('\n') == EOF || std::fflush(stdout) != 0 ? errno : 0;
    }
    std::string message = "cannot write to standard output";
    if (reason != 0) message += ": " + std::generic_category().message(reason);
    say(command_name, message, remedy(reason) + "; then try again");
  }
  return status == 0 ? 1 : status;
}

}  // namespace

void set_command_name(std::string name) { command_name = std::move(name); }

int run_main(std::string_view program, const std::function<int()>& body) {
  set_program_name(program);
  set_command_name(std::string(program));
  require_stack();
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
