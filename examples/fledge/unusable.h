// Errors about input that a command cannot use: a message of two lines and exit status 3.
#pragma once

#include <cerrno>
#include <string>

#include "engine/base/errors.h"
#include "examples/support/options.h"
#include "examples/support/text.h"
#include "nn/io/files.h"

namespace fledge {

/// What is wrong with the input, with its own advice.
struct InputError : std::runtime_error {
  InputError(const std::string& problem, std::string what_to_do)
      : std::runtime_error(problem), advice(std::move(what_to_do)) {}
  std::string advice;
};

/// Runs the body; a FormatError about the contents of this file becomes an InputError with its name
/// and the advice.
template <class Body>
auto of_file(const std::string& path, const std::string& advice, Body body) {
  try {
    return body();
  } catch (const FormatError& error) {
    throw InputError(support::quoted(path) + ": " + error.what(), advice);
  }
}

/// What to do about a file that could not be written.
inline std::string remedy(const FileError& error) {
  switch (error.error_number) {
    case ENOSPC:
    case EDQUOT:
    case EFBIG:
      return "make room on the disk";
    case EACCES:
    case EPERM:
    case EROFS:
      return "make the file and its folder writable";
    default:
      return "remove the cause";
  }
}

/// Runs the body; what it throws about files and their contents becomes a CommandError, exit status
/// 3; status 1 where a file could not be written.
template <class Body>
int with_usable_input(const std::string& program, const std::string& advice, Body body) {
  const auto refuse = [&](const std::exception& error, const std::string& what_to_do) {
    throw support::CommandError(support::Exit::unusable_input, program, error.what(), what_to_do);
  };
  try {
    return body();
  } catch (const WriteError& error) {
    throw support::CommandError(support::Exit::failed, program, error.what(),
                                remedy(error) + "; then try again");
  } catch (const InputError& error) {
    refuse(error, error.advice);
  } catch (const FileError& error) {
    refuse(error, advice);
  } catch (const FormatError& error) {
    refuse(error, advice);
  } catch (const ValueError& error) {
    refuse(error, advice);
  }
  return static_cast<int>(support::Exit::unusable_input);
}

}  // namespace fledge
