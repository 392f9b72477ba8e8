// The cases of each kind: one fault each, and what must hold after it.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "tests/faults/world.h"

namespace fledge::faults {

struct Case {
  std::string name;  // "kill/begin/17": a part of it chooses the case again
  /// Runs it in a folder of its own; throws Broken.
  std::function<void(const std::string& place)> check;
};
struct CasesOfKind {
  std::string kind;
  std::vector<Case> cases;
};

/// Each call of each command fails once, in each way that fits.
CasesOfKind single_faults(const World& world);
/// SIGKILL before each call; then, in the run that goes on, before another.
CasesOfKind kills(const World& world);
/// The folders that a power cut after each call can leave.
CasesOfKind power_cuts(const World& world);
/// Each allocation of each command fails, alone or with all that follow.
CasesOfKind failed_allocations(const World& world);
/// Ctrl-C at each call; two commands in one folder, one of them stopped in the middle.
CasesOfKind signals(const World& world);

}  // namespace fledge::faults
