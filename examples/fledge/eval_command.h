// fledge eval: the loss of a trained model, on its held-out text or on another.
#pragma once

namespace fledge {

/// argv[0] is "eval". Returns the exit status.
int eval_command(int argc, char** argv);

}  // namespace fledge
