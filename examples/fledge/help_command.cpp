#include <array>
#include <cstdio>
#include <string>

#include "examples/fledge/commands.h"
#include "examples/fledge/pages/pages.h"
#include "examples/support/options.h"

namespace fledge {

int help_command(int argc, char** argv) {
  support::Options options("fledge help", "Lists the commands, or explains one of them.");
  options.arguments("COMMAND|man", 0, 1);
  std::vector<std::string> words;
  for (const Command& command : commands()) words.push_back(command.name);
  words.emplace_back("man");
  options.argument_words(words);
  options.example("fledge help", "all commands, one line each");
  options.example("fledge help train", "the same as: fledge train --help");
  options.example("fledge help man", "the manual page in roff, for: man -l FILE");
  options.parse(argc, argv);
  const std::string word = options.arguments().empty() ? "" : options.arguments()[0];
  if (word.empty() || word == "man") {
    std::fputs((word.empty() ? commands_help() : pages::manual()).c_str(), stdout);
    return 0;
  }
  const Command& command = command_named(word);
  std::string name = command.name, wish = "--help";
  std::array arguments{name.data(), wish.data()};
  return command.run(static_cast<int>(arguments.size()), arguments.data());
}

}  // namespace fledge
