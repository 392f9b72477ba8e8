// fledge bench: how fast, and how near to what the machine can do.         Next: bench_command.cpp.
#pragma once

namespace fledge {

/// Measures what is asked for, or a table of all. Exit 0; UsageError for sizes that make no sense.
int bench_command(int argc, char** argv);

}  // namespace fledge
