// Errors about files: a file cannot be read, cannot be written, or has wrong contents.
#pragma once

#include <stdexcept>
#include <string>

#include "nn/io/utf8.h"

namespace fledge {

/// A file that cannot be read, with the system's reason: "cannot read 'poems.txt': no such file or
/// directory".
struct FileError : std::runtime_error {
  /// "cannot VERB 'PATH': REASON", the path escaped.
  FileError(const char* verb, const std::string& path, const std::string& reason, int error = 0);
  /// The reason is the system's message for an error number.
  FileError(const char* verb, const std::string& path, int error);
  int error_number;  // errno of the call that failed; 0 where no call failed
};

/// A file that could not be written: a disk is full or broken, or a folder is not writable.
struct WriteError : FileError {
  using FileError::FileError;
};

/// A file or text with wrong contents: "line 3, column 7: expected a value".
struct FormatError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// Returns f(). If f() throws a FormatError, `place` and a colon are put before its message.
template <class F>
auto located_at(const std::string& place, F f) {
  try {
    return f();
  } catch (const FormatError& error) {
    throw FormatError(place + ": " + error.what());
  }
}

}  // namespace fledge
