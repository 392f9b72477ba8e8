#include "examples/fledge/commands.h"

#include <cstdio>

#include "examples/support/options.h"
#include "examples/support/run_main.h"
#include "examples/support/text.h"

namespace fledge {

const std::vector<Command>& commands() {
  static const std::vector<Command> table = {
      {"train", "FILE", "train a small model on a text", train_command},
      {"generate", "DIR [PROMPT]", "continue a prompt", generate_command},
      {"eval", "DIR [FILE]", "its loss on text that it has not seen", eval_command},
      {"inspect", "DIR", "what is in a model: tensors, heads, similar tokens", inspect_command},
      {"export", "DIR", "a folder of the model for PyTorch and Hugging Face's libraries",
       export_command},
      {"plot", "DIR ...", "the losses of runs, as a plot", plot_command},
      {"page", "DIR", "one HTML page that shows how a model learned", page_command},
      {"gradcheck", "[NAME ...]", "prove every gradient twice", gradcheck_command},
      {"bench", "[WHAT ...]", "how fast, and how near to the machine's limit", bench_command},
  };
  return table;
}

namespace {

std::string commands_help() {
  std::vector<support::HelpRow> rows;
  for (const Command& command : commands())
    rows.emplace_back("fledge " + command.name + " " + command.arguments, command.purpose);
  rows.emplace_back("fledge COMMAND --help", "its options; --version: the version");
  return support::paragraph("fledge: gradients you can check, attention you can read") + "\n" +
         support::help_columns(rows) + "\n" +
         support::paragraph(
             "exit status: 0 done, 1 failed, 2 wrong usage, 3 unusable input, "
             "4 diverged, 130 interrupted");
}

}  // namespace

int run_command(int argc, char** argv) {
  const std::string_view word = argc > 1 ? argv[1] : "";
  if (word == "--help" || word == "-h") throw support::HelpRequest(commands_help());
  if (word == "--version") throw support::HelpRequest(support::version_of("fledge") + "\n");
  std::vector<std::string> names;
  for (const Command& command : commands()) {
    if (command.name == word) return command.run(argc - 1, argv + 1);
    names.push_back(command.name);
  }
  const std::string meant = support::closest(word, names);
  support::refuse_usage(
      word.empty() ? "needs a command" : "unknown command " + support::quoted(word),
      (meant.empty() ? "" : "did you mean '" + meant + "'? ") + "all commands: fledge --help");
}

}  // namespace fledge
