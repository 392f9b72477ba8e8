// What can be wrong with a file: it cannot be read, it cannot be written, or its contents are wrong.
#pragma once

#include <stdexcept>
#include <string>

#include "engine/real.h"
#include "nn/io/utf8.h"

namespace fledge {

/// A file that cannot be read, with the system's reason: "cannot read 'poems.txt': no such file or
/// directory".
struct FileError : std::runtime_error {
  explicit FileError(const std::string& what_is_wrong, int error = 0)
      : std::runtime_error(what_is_wrong), error_number(error) {}
  int error_number;  // errno of the call that failed; 0 where no call failed
};

/// A file that could not be written. The program's input is not to blame: a disk is full or broken,
/// or a folder is not writable.
struct WriteError : FileError {
  using FileError::FileError;
};

/// A file or text that is there, and is not what it must be: "line 3, column 7: expected a value".
struct FormatError : std::runtime_error {
  explicit FormatError(const std::string& what_is_wrong) : FormatError("", what_is_wrong) {}
  /// The message begins with `place` unless it is empty.
  FormatError(std::string place, std::string what_is_wrong)
      : std::runtime_error(place.empty() ? what_is_wrong : place + ": " + what_is_wrong),
        where(std::move(place)),
        problem(std::move(what_is_wrong)) {}
  std::string where, problem;
};

/// f(), its FormatErrors with this place in front of their own.
template <class F>
auto located_at(const std::string& place, F f) {
  try {
    return f();
  } catch (const FormatError& error) {
    throw FormatError(error.where.empty() ? place : place + ", " + error.where, error.problem);
  }
}

}  // namespace fledge
