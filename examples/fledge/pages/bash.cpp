#include "examples/fledge/pages/pages.h"
#include "examples/support/options.h"

namespace fledge::pages {

namespace {

/// The lines of a case for the values of options: words are offered, names of files are left to
/// the shell, and for a number or a text nothing is offered.
std::string bash_values(const std::string& command, const support::OptionTable& table) {
  std::string lines;
  for (const support::OptionRow& row : table.rows) {
    const Expected value = expected(row.argument);
    if (value == Expected::nothing) continue;
    std::vector<std::string> patterns;
    for (const std::string& name : names_of(row))
      patterns.push_back("'" + command + " " + name + "'");
    lines += "    " + joined(patterns, "|") + ") ";
    if (value == Expected::words)
      lines += "words='" + joined(support::words_of_choice(row.argument)) + "' ;;\n";
    else
      lines += value == Expected::text ? "return ;;\n" : "files=yes ;;\n";
  }
  return lines;
}

}  // namespace

std::string bash_completion() {
  const std::vector<support::OptionTable> tables = command_tables();
  std::string names, values, options;
  for (std::size_t i = 0; i < tables.size(); ++i) {
    const std::string& name = commands()[i].name;
    const support::OptionTable& table = tables[i];
    const Expected argument = expected(table.placeholder);
    names += name + " ";
    values += bash_values(name, table);
    options += "      " + name + ") options='" + joined(option_names(table)) + "'";
    if (!table.words.empty()) options += "\n        words='" + joined(table.words) + "'";
    if (argument == Expected::file || argument == Expected::folder) options += " files=yes";
    options += " ;;\n";
  }
  return "# Completions of fledge for bash, made by: fledge completion bash\n"
         "_fledge() {\n"
         "  local current=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]}\n"
         "  local command=${COMP_WORDS[1]} words= options= files=\n"
         "  COMPREPLY=()\n"
         "  if [ \"$COMP_CWORD\" -eq 1 ]; then\n"
         "    COMPREPLY=($(compgen -W '" +
         names +
         "--help --version' -- \"$current\"))\n"
         "    return\n"
         "  fi\n"
         "  # bash cuts --name=value into three words\n"
         "  if [ \"$current\" = = ]; then\n"
         "    current=\n"
         "  elif [ \"$before\" = = ]; then\n"
         "    before=${COMP_WORDS[COMP_CWORD - 2]}\n"
         "  fi\n"
         "  case \"$command $before\" in\n" +
         values +
         "    *)\n"
         "      case \"$command\" in\n" +
         options +
         "      esac ;;\n"
         "  esac\n"
         "  case \"$current\" in -*) words=$options files= ;; esac\n"
         "  COMPREPLY=($(compgen -W \"$words\" -- \"$current\"))\n"
         "  if [ -n \"$files\" ]; then\n"
         "    type compopt >/dev/null 2>&1 && compopt -o filenames\n"
         "    local line\n"
         "    while IFS= read -r line; do COMPREPLY+=(\"$line\"); done < <(compgen -f -- "
         "\"$current\")\n"
         "  fi\n"
         "}\n"
         "complete -F _fledge fledge\n";
}

}  // namespace fledge::pages
