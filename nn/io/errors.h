// Errors about files: a file cannot be read, cannot be written, or has wrong contents.
#pragma once

#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

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

/// A file or text with wrong contents: "line 3, column 7: expected a value". `advice` says what to
/// do about such a file; "" if only the caller knows it.
struct FormatError : std::runtime_error {
  explicit FormatError(const std::string& problem, std::string what_to_do = "")
      : std::runtime_error(problem), advice(std::move(what_to_do)) {}
  std::string advice;
};

/// What to do about contents that no program writes.
inline constexpr const char* damage_advice = "the file is damaged: bring it again";

/// A file in a repository of Git LFS may be a pointer: a text that begins so, in the place of the
/// contents.
inline constexpr std::string_view pointer_beginning = "version https://git-lfs";
inline constexpr const char* pointer_advice =
    "fetch what this pointer of Git LFS stands for: git lfs pull";

/// Returns f(). If f() throws a FormatError, `place` and a colon are put before its message.
template <class F>
auto located_at(const std::string& place, F f) {
  try {
    return f();
  } catch (const FormatError& error) {
    throw FormatError(place + ": " + error.what(), error.advice);
  }
}

}  // namespace fledge
