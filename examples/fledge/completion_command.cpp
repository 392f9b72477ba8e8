#include <cstdio>
#include <string>

#include "examples/fledge/commands.h"
#include "examples/fledge/pages/pages.h"
#include "examples/support/options.h"
#include "examples/support/text.h"

namespace fledge {

int completion_command(int argc, char** argv) {
  support::Options options("fledge completion",
                           "Prints a script with which a shell completes commands and options.");
  options.arguments("bash|zsh|fish", 1, 1);
  options.argument_words({"bash", "zsh", "fish"});
  options.example("source <(fledge completion bash)", "for this shell; or a line of ~/.bashrc");
  options.example("fledge completion zsh > ~/.zfunc/_fledge", "a folder that fpath names");
  options.example("fledge completion fish | source", "or a line of ~/.config/fish/config.fish");
  options.parse(argc, argv);
  const std::string& shell = options.arguments()[0];
  std::string script;
  if (shell == "bash") script = pages::bash_completion();
  if (shell == "zsh") script = pages::zsh_completion();
  if (shell == "fish") script = pages::fish_completion();
  if (script.empty())
    support::refuse_usage("there are no completions for " + support::quoted(shell),
                          "use bash, zsh or fish");
  std::fputs(script.c_str(), stdout);
  return 0;
}

}  // namespace fledge
