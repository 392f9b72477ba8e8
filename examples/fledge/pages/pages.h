// Texts that are made from the tables of options: completions for shells, and the manual page.
//
// Next: bash.cpp, zsh.cpp, fish.cpp, manual.cpp.
#pragma once

#include <string>
#include <vector>

#include "examples/fledge/commands.h"
#include "examples/support/option_table.h"

namespace fledge::pages {

/// The table of each command, in the order of commands().
std::vector<support::OptionTable> command_tables();

std::string bash_completion();
std::string zsh_completion();
std::string fish_completion();

/// In roff, as man reads it.
std::string manual();

/// What may stand where an option's value or an argument is expected.
enum class Expected { nothing, words, folder, file, text };
/// Of "char|word" words, of "DIR" a folder, of "FILE" a file, of "" nothing.
Expected expected(const std::string& argument);

/// "-o", "--out", and "--help" and "--version", which every command has.
std::vector<std::string> names_of(const support::OptionRow& row);
std::vector<std::string> option_names(const support::OptionTable& table);

/// The words with spaces between.
std::string joined(const std::vector<std::string>& words, const std::string& between = " ");

/// The text with `escape` before each character of `special`.
std::string escaped(const std::string& text, const std::string& special,
                    const std::string& escape = "\\");

}  // namespace fledge::pages
