// The command fledge: commands.cpp has the table of what it can do.
#include "examples/fledge/commands.h"
#include "examples/support/run_main.h"

int main(int argc, char** argv) {
  return support::run_main("fledge", [&] { return fledge::run_command(argc, argv); });
}
