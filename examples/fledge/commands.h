// The commands of fledge: one table, from which the help is made. A new command is a function and a
// row of commands.cpp.                                                     Next: commands.cpp.
#pragma once

#include <string>
#include <string_view>
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

/// The command of this name. Throws UsageError, with a suggestion, if there is none.
const Command& command_named(std::string_view name);

/// The text of `fledge --help`.
std::string commands_help();

/// Trains a model on a text. Throws CommandError, with its exit status, for what it cannot use.
int train_command(int argc, char** argv);

/// Continues a prompt with a trained model.
int generate_command(int argc, char** argv);

/// The loss of a trained model on its held-out text, or on another text.
int eval_command(int argc, char** argv);

/// Shows what a trained model is made of, and what it would predict with other attention.
int inspect_command(int argc, char** argv);

/// Writes a model for other programs.
int export_command(int argc, char** argv);

/// Plots the losses of runs.
int plot_command(int argc, char** argv);

/// Writes the page of a run.
int page_command(int argc, char** argv);

/// Checks the gradients of every op, every module and a whole model. Exit status: 0 all are right,
/// 1 a gradient is wrong. Throws UsageError for wrong options, also when a name selects nothing.
int gradcheck_command(int argc, char** argv);

/// Measures the speed of one kind of work, or of all. Throws UsageError for sizes that are not
/// possible.
int bench_command(int argc, char** argv);

/// Prints the help of fledge or of one command.
int help_command(int argc, char** argv);

}  // namespace fledge
