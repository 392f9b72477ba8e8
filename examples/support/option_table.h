// The options of a command as data: what completions and the manual page are made of.
//
// Key idea: a command has its table in its own function, in front of everything else it does. So
// table_of() calls the command, and Options::parse() ends the call with the table.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "examples/support/help.h"

namespace support {

struct OptionRow {
  std::string name, argument;  // "--out", "DIR"; of a choice its words, "char|word"; of a flag ""
  char letter = 0;             // of "-o, --out"
  std::string help, group, fallback;
};

struct OptionTable {
  std::string program, purpose;    // "fledge train"
  std::string usage;               // of the arguments: "[FILE]"
  std::string placeholder;         // "FILE"; "" if there are no arguments
  std::vector<std::string> words;  // that an argument may be, if they are known
  std::vector<OptionRow> rows;
  std::vector<HelpRow> examples;
  std::string exit_statuses;
};

/// The table of the command that this function calls. Of the command, only what stands before
/// Options::parse() is run. Throws std::logic_error if it parses no options.
OptionTable table_of(const std::function<void()>& command);

/// Called by Options::parse(): throws the table if table_of() has called the command.
void give_table(const std::function<OptionTable()>& table);

}  // namespace support
