// fledge generate: a trained model goes on with a text.
#pragma once

namespace fledge {

/// argv[0] is "generate". Returns the exit status.
int generate_command(int argc, char** argv);

}  // namespace fledge
