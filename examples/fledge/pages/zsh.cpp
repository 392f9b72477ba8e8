#include "examples/fledge/pages/pages.h"
#include "examples/support/options.h"

namespace fledge::pages {

namespace {

/// A text between single quotes.
std::string zsh_quoted(const std::string& text) {
  std::string result = "'";
  for (const char c : text) result += c == '\'' ? std::string("'\\''") : std::string{c};
  return result + "'";
}

std::string zsh_text(const std::string& text) { return escaped(text, "\\[]:"); }

/// ":DIR:_files -/": what a value is, and where its completions come from.
std::string zsh_value(const std::string& argument, const std::vector<std::string>& known = {}) {
  const Expected value = expected(argument);
  std::string action;
  if (!known.empty())
    action = "(" + joined(known) + ")";
  else if (value == Expected::words)
    action = "(" + joined(support::words_of_choice(argument)) + ")";
  else if (value == Expected::file)
    action = "_files";
  else if (value == Expected::folder)
    action = "_files -/";
  return ":" + zsh_text(argument) + ":" + action;
}

/// The words for _arguments: '(-o --out)'{-o,--out}'[help]:DIR:_files -/'
std::string zsh_option(const support::OptionRow& row) {
  const std::vector<std::string> names = names_of(row);
  const std::string rest = zsh_quoted("[" + zsh_text(row.help) + "]" +
                                      (row.argument.empty() ? "" : zsh_value(row.argument)));
  // With "=" the value may also stand behind an equals sign.
  const std::string equals = row.argument.empty() ? "" : "=";
  if (names.size() == 1) return names[0] + equals + rest;
  return zsh_quoted("(" + joined(names) + ")") + "{" + names[0] + "," + names[1] + equals + "}" +
         rest;
}

}  // namespace

std::string zsh_completion() {
  const std::vector<support::OptionTable> tables = command_tables();
  std::string names, cases;
  for (std::size_t i = 0; i < tables.size(); ++i) {
    const Command& command = commands()[i];
    const support::OptionTable& table = tables[i];
    names += "      " + zsh_quoted(escaped(command.name + ":" + command.purpose, "\\")) + "\n";
    cases += "    " + command.name + ")\n      _arguments";
    for (const support::OptionRow& row : table.rows) cases += " \\\n        " + zsh_option(row);
    cases += " \\\n        '--help[the help]' '--version[the version]'";
    if (!table.placeholder.empty())
      cases += " \\\n        " + zsh_quoted("*" + zsh_value(table.placeholder, table.words));
    cases += " ;;\n";
  }
  return "#compdef fledge\n"
         "# Completions of fledge for zsh, made by: fledge completion zsh\n"
         "_fledge() {\n"
         "  if (( CURRENT == 2 )); then\n"
         "    local -a commands\n"
         "    commands=(\n" +
         names +
         "    )\n"
         "    _describe command commands\n"
         "    return\n"
         "  fi\n"
         "  local command=${words[2]}\n"
         "  shift words\n"
         "  (( CURRENT-- ))\n"
         "  case $command in\n" +
         cases +
         "  esac\n"
         "}\n"
         "# Either zsh loads this file as a function, or it is read by: source\n"
         "if [ \"${funcstack[1]}\" = _fledge ]; then _fledge \"$@\"; else compdef _fledge fledge; fi\n";
}

}  // namespace fledge::pages
