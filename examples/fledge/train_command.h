// fledge train: a model learns a text.                                       Next: train/session.h.
#pragma once

namespace fledge {

/// argv[0] is "train". Returns the exit status.
int train_command(int argc, char** argv);

}  // namespace fledge
