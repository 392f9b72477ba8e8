// The command: fledge gradcheck, fledge bench.                           Next: gradcheck_command.h.
#include <cstdio>
#include <string_view>

#include "examples/fledge/bench_command.h"
#include "examples/fledge/gradcheck_command.h"
#include "examples/support/options.h"
#include "examples/support/text.h"

namespace {

constexpr std::string_view usage =
    "fledge: gradients you can check, attention you can read\n"
    "\n"
    "  fledge gradcheck          prove every gradient twice\n"
    "  fledge bench              how fast, and how near to what this machine can do\n"
    "  fledge COMMAND --help     its options\n"
    "\n"
    "Exit  0 done  1 failed  2 usage\n";

int run(int argc, char** argv) {
  using fledge::support::quoted;
  const std::string_view command = argc > 1 ? argv[1] : "";
  if (command == "gradcheck") return fledge::gradcheck_command(argc - 1, argv + 1);
  if (command == "bench") return fledge::bench_command(argc - 1, argv + 1);
  if (command == "--help" || command == "-h" || command == "help") {
    std::fputs(usage.data(), stdout);
    return 0;
  }
  const std::string meant = fledge::support::closest(command, {"gradcheck", "bench"});
  const std::string advice = meant.empty() ? "commands: gradcheck, bench; see: fledge --help"
                                           : "did you mean '" + meant + "'? see: fledge --help";
  throw fledge::support::UsageError(
      "fledge", command.empty() ? "needs a command" : "unknown command " + quoted(command), advice);
}

}  // namespace

int main(int argc, char** argv) {
  return fledge::support::run_main("fledge", [&] { return run(argc, argv); });
}
