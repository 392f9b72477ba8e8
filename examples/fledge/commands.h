// The commands of fledge: one table, from which the help is made. A new command is a function and a
// row of commands.cpp.
#pragma once

#include <string>
#include <vector>

namespace fledge {

/// What the first word after `fledge` names.
struct Command {
  std::string name;
  std::string arguments;              // as the help shows them
  std::string purpose;                // in one line
  int (*run)(int argc, char** argv);  // argv[0] is the name; returns the exit status
};

const std::vector<Command>& commands();

/// Runs the command that argv[1] names. Throws HelpRequest, with the text of `fledge --help` or the
/// version, and UsageError, with a suggestion, if there is no such command.
int run_command(int argc, char** argv);

// Each throws CommandError, with its exit status, for what it cannot use, and UsageError for wrong
// options. gradcheck ends with 1 when a gradient is wrong.
int train_command(int argc, char** argv);
int generate_command(int argc, char** argv);
int eval_command(int argc, char** argv);
int inspect_command(int argc, char** argv);
int export_command(int argc, char** argv);
int plot_command(int argc, char** argv);
int page_command(int argc, char** argv);
int gradcheck_command(int argc, char** argv);
int bench_command(int argc, char** argv);

}  // namespace fledge
