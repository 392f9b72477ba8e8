// The command: fledge train, generate, eval, gradcheck, bench.               Next: commands.h.
#include <cstdio>
#include <string>
#include <string_view>
#include <vector>

#include "examples/fledge/commands.h"
#include "examples/support/errors.h"
#include "examples/support/run_main.h"
#include "examples/support/text.h"

namespace {

constexpr std::string_view usage =
    "fledge: gradients you can check, attention you can read\n"
    "\n"
    "  fledge train FILE -o DIR  train a small model on a text\n"
    "  fledge generate DIR       let it go on with a prompt\n"
    "  fledge eval DIR [FILE]    its loss on text that it has not seen\n"
    "  fledge gradcheck          prove every gradient twice\n"
    "  fledge bench              how fast, and how near to what this machine can do\n"
    "  fledge COMMAND --help     its options\n"
    "\n"
    "Exit  0 done  1 failed  2 usage  3 unusable input  4 diverged  130 interrupted\n";

struct Command {
  const char* name;
  int (*run)(int argc, char** argv);
};

constexpr Command commands[] = {{"train", fledge::train_command},
                                {"generate", fledge::generate_command},
                                {"eval", fledge::eval_command},
                                {"gradcheck", fledge::gradcheck_command},
                                {"bench", fledge::bench_command}};

int run(int argc, char** argv) {
  using support::quoted;
  const std::string_view command = argc > 1 ? argv[1] : "";
  for (const Command& known : commands)
    if (command == known.name) return known.run(argc - 1, argv + 1);
  if (command == "--help" || command == "-h" || command == "help") {
    std::fputs(usage.data(), stdout);
    return 0;
  }
  std::vector<std::string> names;
  std::string all;
  for (const Command& known : commands) {
    names.emplace_back(known.name);
    all += (all.empty() ? "commands: " : ", ") + names.back();
  }
  const std::string meant = support::closest(command, names);
  const std::string advice = meant.empty() ? all + "; see: fledge --help"
                                           : "did you mean '" + meant + "'? see: fledge --help";
  throw support::UsageError(
      command.empty() ? "needs a command" : "unknown command " + quoted(command), advice);
}

}  // namespace

int main(int argc, char** argv) {
  return support::run_main("fledge", [&] { return run(argc, argv); });
}
