// The commands of fledge. argv[0] is the name of the command; each returns the exit status.
#pragma once

namespace fledge {

/// Trains a model on a text. Throws CommandError, with its exit status, for what it cannot use.
int train_command(int argc, char** argv);

/// Continues a prompt with a trained model.
int generate_command(int argc, char** argv);

/// The loss of a trained model on its held-out text, or on another text.
int eval_command(int argc, char** argv);

/// Checks the gradients of every op, every module and a whole model. Exit status: 0 all are right,
/// 1 a gradient is wrong. Throws UsageError for wrong options, also when --only selects nothing.
int gradcheck_command(int argc, char** argv);

/// Measures the speed of one kind of work, or of all. Throws UsageError for sizes that are not
/// possible.
int bench_command(int argc, char** argv);

}  // namespace fledge
