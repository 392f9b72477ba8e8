// Runs programs the way a user would, with a file behind them or a terminal, and keeps what they
// say.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace testing {

struct Result {
  int status = 0;        // the exit status; 128 + the signal's number when one ended the program
  std::string out, err;  // on a terminal everything is in out
  double seconds = 0;    // of the processor, the system's share included
  double megabytes = 0;  // of memory at most, or this process's own most if that is more
};

using Environment = std::map<std::string, std::string>;

/// Runs argv[0] (found along PATH) to its end, in this process's environment without its wishes
/// about colour, size and language, plus `extra`. Throws std::runtime_error when it cannot start.
Result run(const std::vector<std::string>& argv, const Environment& extra = {},
           std::string_view standard_input = "");

/// The same on a pseudo terminal with TERM=xterm-256color; lines end in "\n" alone. What was `typed`
/// before the program began is shown first.
Result run_on_terminal(const std::vector<std::string>& argv, const Environment& extra = {},
                       int columns = 80, int rows = 24, std::string_view typed = "");

/// Runs `body` in a copy of this process (fork), its result the exit status; stdout goes to
/// `out_path` when one is given.
Result run_here(const std::function<int()>& body, const char* out_path = nullptr);

}  // namespace testing
