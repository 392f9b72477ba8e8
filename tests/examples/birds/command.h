// The program build/birds, run as a user would run it.
#pragma once

#include <string>
#include <vector>

#include "tests/examples/fledge/command.h"

namespace testing {

inline const std::string birds_program = FLEDGE_BINARY_DIR "/birds";

inline std::vector<std::string> birds_with(std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), birds_program);
  return arguments;
}

inline Result birds_says(const std::vector<std::string>& arguments, const Environment& extra = {}) {
  return run(birds_with(arguments), extra);
}

/// A command line of the shell in which "$0" is the program.
inline Result birds_in_shell(const std::string& line) {
  return run({"sh", "-c", line, birds_program});
}

}  // namespace testing
