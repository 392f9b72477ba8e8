#include <array>
#include <cstdio>
#include <string>

#include "examples/fledge/commands.h"
#include "examples/support/options.h"

namespace fledge {

int help_command(int argc, char** argv) {
  support::Options options("fledge help", "Lists the commands, or explains one of them.");
  options.arguments("COMMAND", 0, 1);
  options.example("fledge help", "all commands, one line each");
  options.example("fledge help train", "the same as: fledge train --help");
  options.parse(argc, argv);
  if (options.arguments().empty()) {
    std::fputs(commands_help().c_str(), stdout);
    return 0;
  }
  const Command& command = command_named(options.arguments()[0]);
  std::string name = command.name, wish = "--help";
  std::array arguments{name.data(), wish.data()};
  return command.run(static_cast<int>(arguments.size()), arguments.data());
}

}  // namespace fledge
