// fledge gradcheck: every op, every module and a whole model, each gradient proved twice.
#pragma once

namespace fledge {

/// argv[0] is "gradcheck". Returns the exit status: 0 all proved, 1 a gradient is wrong.
/// Throws UsageError for wrong options, also when --only names nothing.
int gradcheck_command(int argc, char** argv);

}  // namespace fledge
