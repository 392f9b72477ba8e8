// Programs that run beside each other, each with a limit and its output in a file.
#pragma once

#include <sys/types.h>

#include <filesystem>
#include <string>
#include <vector>

#include "verdict.h"

namespace planted {

using Command = std::vector<std::string>;

/// Starts argv[0] (found along PATH); what it says goes to `log`. After `seconds` of computing or
/// ten times as many of waiting (0: never) a signal ends it, also when this program is gone by
/// then.
/// Throws std::system_error when it cannot start.
pid_t start(const Command& argv, const std::filesystem::path& log, unsigned seconds = 0);

struct Ended {
  pid_t child = 0;
  Ending ending;
};

/// Waits for any of those started.
Ended wait_for_any();

}  // namespace planted
