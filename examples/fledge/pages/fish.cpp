#include "examples/fledge/pages/pages.h"
#include "examples/support/options.h"

namespace fledge::pages {

namespace {

std::string fish_quoted(const std::string& text) { return "'" + escaped(text, "\\'") + "'"; }

/// What completes a value: words, the names of files, or nothing.
std::string fish_value(const std::string& argument, const std::vector<std::string>& known = {}) {
  const Expected value = expected(argument);
  if (!known.empty()) return " -x -a " + fish_quoted(joined(known));
  if (value == Expected::words)
    return " -x -a " + fish_quoted(joined(support::words_of_choice(argument)));
  if (value == Expected::folder) return " -x -a '(__fish_complete_directories)'";
  if (value == Expected::file) return " -r -F";
  return value == Expected::nothing ? "" : " -x";
}

}  // namespace

std::string fish_completion() {
  const std::vector<support::OptionTable> tables = command_tables();
  std::string lines =
      "# Completions of fledge for fish, made by: fledge completion fish\n"
      "function __fledge_has_command\n"
      "    set -l words (commandline -opc)\n"
      "    test (count $words) -ge 2; and test $words[2] = $argv[1]\n"
      "end\n"
      "function __fledge_has_no_command\n"
      "    test (count (commandline -opc)) -eq 1\n"
      "end\n"
      "complete -c fledge -f\n"
      "complete -c fledge -n __fledge_has_no_command -l version -d 'the version'\n"
      "complete -c fledge -l help -d 'the help'\n";
  for (std::size_t i = 0; i < tables.size(); ++i) {
    const Command& command = commands()[i];
    lines += "\ncomplete -c fledge -n __fledge_has_no_command -a " + command.name + " -d " +
             fish_quoted(command.purpose) + "\n";
    const std::string begin = "complete -c fledge -n '__fledge_has_command " + command.name + "'";
    for (const support::OptionRow& row : tables[i].rows) {
      lines += begin + " -l " + row.name.substr(2);
      if (row.letter != 0) lines += std::string(" -s ") + row.letter;
      lines += fish_value(row.argument);
      lines += " -d " + fish_quoted(row.help) + "\n";
    }
    const std::string& argument = tables[i].placeholder;
    if (!argument.empty()) lines += begin + fish_value(argument, tables[i].words) + "\n";
  }
  return lines;
}

}  // namespace fledge::pages
