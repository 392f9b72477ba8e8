// Why a program ends before it is done: the problem, what to do, and the exit status. The frame of
// every main() of this project: errors, exit status and standard streams; its version, which
// CMakeLists.txt states; and the memory that it uses.
#pragma once

#include <cerrno>
#include <functional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

#include "engine/base/errors.h"
#include "nn/io/errors.h"

namespace support {

/// How a program ends: its exit status.
enum class Exit { done = 0, failed = 1, usage = 2, unusable_input = 3, diverged = 4 };

/// what() is the problem. run_main() prints two lines, whatever was typed or read:
///
///     birds: unknown option '--sede'
///            did you mean '--seed'? all options: birds --help
struct CommandError : std::runtime_error {
  CommandError(Exit with, const std::string& problem, std::string what_to_do)
      : std::runtime_error(problem), status(with), advice(std::move(what_to_do)) {}
  Exit status;
  std::string advice;
};

/// Input that a command cannot use.
struct InputError : CommandError {
  InputError(const std::string& problem, std::string what_to_do)
      : CommandError(Exit::unusable_input, problem, std::move(what_to_do)) {}
};

/// A wrong use of a program.
struct UsageError : CommandError {
  UsageError(const std::string& problem, std::string what_to_do)
      : CommandError(Exit::usage, problem, std::move(what_to_do)) {}
};

/// Throws UsageError. Users' words in it should be quoted().
[[noreturn]] inline void refuse_usage(const std::string& problem, const std::string& advice) {
  throw UsageError(problem, advice);
}

/// The user asked for help; what() is the text for stdout.
struct HelpRequest : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// f(). What nn throws about files that cannot be read, about formats and values becomes an
/// InputError with this advice. `place` is put before a message about contents. A WriteError passes.
template <class F>
auto with_advice(const std::string& advice, F f, const std::string& place = "") {
  const std::string before = place.empty() ? "" : place + ": ";
  try {
    return f();
  } catch (const fledge::WriteError&) {
    throw;
  } catch (const fledge::FileError& error) {
    throw InputError(error.what(), advice);
  } catch (const fledge::FormatError& error) {
    throw InputError(before + error.what(), advice);
  } catch (const fledge::ValueError& error) {
    throw InputError(before + error.what(), advice);
  }
}

/// What to do about a file that could not be written, because of this error number.
inline std::string remedy(int error_number) {
  switch (error_number) {
    case ENOSPC:
    case EDQUOT:
    case EFBIG:
      return "make room on the disk";
    case EPIPE:
      return "let the program that reads the output read on";
    case EACCES:
    case EPERM:
    case EROFS:
      return "make the file and its folder writable";
    default:
      return "remove the cause";
  }
}

/// The body of main(): runs `body` and turns what it throws into a message on stderr and an exit
/// status: HelpRequest 0, CommandError its own, any other error 1. The message of a WriteError also
/// says what to do. If results could not be written to stdout, the status is 1 with a message. A
/// closed standard stream is not mistaken for a file that is opened later, and a limit on the size of
/// files is an error, not a signal. Without memory, and for an exception that nothing catches, in any
/// thread and before main() begins, the message is one line, for which no memory is needed, and the
/// status 1.
int run_main(std::string_view program, const std::function<int()>& body);

/// The name that stands before the message of an error of the body, such as "fledge train"; at first
/// the program's.
void set_command_name(std::string name);

/// "fledge 0.1.0": what --version prints, for the program or for "fledge train", without a line end.
std::string version_of(std::string_view program);

/// The largest amount of memory that this program has used so far.
double peak_megabytes();

}  // namespace support
