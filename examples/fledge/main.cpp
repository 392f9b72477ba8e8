// The command fledge: train, generate, gradcheck and the other rows of its table. Next: commands.h.
#include <cstdio>
#include <string_view>

#include "examples/fledge/commands.h"
#include "examples/support/run_main.h"
#include "examples/support/version.h"

namespace {

int run(int argc, char** argv) {
  const std::string_view word = argc > 1 ? argv[1] : "";
  if (word == "--help" || word == "-h") {
    std::fputs(fledge::commands_help().c_str(), stdout);
    return 0;
  }
  if (word == "--version") {
    std::puts(support::version_of("fledge").c_str());
    return 0;
  }
  return fledge::command_named(word).run(argc - 1, argv + 1);
}

}  // namespace

int main(int argc, char** argv) {
  return support::run_main("fledge", [&] { return run(argc, argv); });
}
