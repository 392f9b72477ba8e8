// fledge completion: the scripts name every command and option, their shells read them, and the
// shells that are installed complete with them.
#include "examples/fledge/pages/pages.h"
#include "tests/examples/fledge/command.h"
#include "tests/support/catch.h"
#include "tests/support/folder.h"
#include "tests/support/skipped.h"

using namespace testing;

namespace {

const std::vector<std::string> shells{"bash", "zsh", "fish"};

std::string script_for(const std::string& shell) {
  const Result result = fledge_says({"completion", shell});
  CHECK(result.status == 0);
  CHECK(result.err.empty());
  return result.out;
}

bool is_installed(const std::string& program) {
  return in_shell("command -v " + program + " >/dev/null").status == 0;
}

}  // namespace

TEST_CASE("completion: every command and every option stands in every script") {
  const auto tables = fledge::pages::command_tables();
  REQUIRE(tables.size() == fledge::commands().size());
  for (const std::string& shell : shells) {
    CAPTURE(shell);
    const std::string script = script_for(shell);
    for (const fledge::Command& command : fledge::commands())
      CHECK_THAT(script, ContainsSubstring(command.name));
    for (const support::OptionTable& table : tables)
      for (const support::OptionRow& row : table.rows)
        // fish writes --out as -l out
        CHECK_THAT(script,
                   ContainsSubstring(shell == "fish" ? "-l " + row.name.substr(2) : row.name));
  }
}

TEST_CASE("completion: each shell finds no mistake in its script") {
  const testing::Folder folder;
  for (const std::string& shell : shells) {
    CAPTURE(shell);
    write_file(folder / shell, script_for(shell));
    if (!is_installed(shell)) {
      testing::report_skipped(shell + " is not installed");
      continue;
    }
    const std::string check = shell == "fish" ? "--no-execute" : "-n";
    const Result result = run({shell, check, folder / shell});
    CHECK(result.status == 0);
    CHECK(result.err.empty());
  }
}

TEST_CASE("completion: bash completes commands, options, values and files") {
  if (!is_installed("bash")) {
    testing::report_skipped("bash is not installed");
    return;
  }
  const testing::Folder folder;
  write_file(folder / "my text.txt", "text");
  write_file(folder / "script", script_for("bash") +
                                    "cd \"$1\"; shift\n"
                                    "COMP_WORDS=(fledge \"$@\"); COMP_CWORD=$#\n"
                                    "_fledge 2>/dev/null\n"
                                    "printf '%s;' \"${COMPREPLY[@]}\"\n");
  const auto completed = [&](std::vector<std::string> words) {
    words.insert(words.begin(), {"bash", folder / "script", folder.path()});
    return run(words).out;
  };
  CHECK(completed({"tra"}) == "train;");
  CHECK(completed({"--v"}) == "--version;");
  CHECK(completed({"train", "--min-"}) == "--min-lr;");
  CHECK(completed({"train", "--tokens", ""}) == "char;word;byte;bpe;");
  CHECK(completed({"train", "--tokens", "=", "b"}) == "byte;bpe;");
  CHECK(completed({"train", "--steps", ""}) == ";");
  CHECK(completed({"train", "my"}) == "my text.txt;");
  CHECK(completed({"gradcheck", "layer"}) == "layer_norm;");
  CHECK(completed({"bench", "o"}) == "op;overhead;");
  CHECK(completed({"help", "ma"}) == "man;");
  CHECK(completed({"completion", ""}) == "bash;zsh;fish;");
}

TEST_CASE("completion: fish completes commands, options, values and files") {
  if (!is_installed("fish")) {
    testing::report_skipped("fish is not installed");
    return;
  }
  const testing::Folder folder;
  write_file(folder / "my text.txt", "text");
  write_file(folder / "script", script_for("fish"));
  const auto completed = [&](const std::string& line) {
    const std::string commands =
        "cd " + folder.path() + "; source script; complete -C '" + line + "'";
    std::string names;
    for (const std::string& found :
         lines_of(run({"fish", "-c", commands}, {{"HOME", folder.path()}}).out))
      names += found.substr(0, found.find('\t')) + ";";
    return names;
  };
  CHECK(completed("fledge tra") == "train;");
  CHECK(completed("fledge train --min-") == "--min-lr;");
  CHECK(completed("fledge train --tokens ") == "bpe;byte;char;word;");
  CHECK(completed("fledge train my") == "my text.txt;");
  CHECK(completed("fledge gradcheck cosi") == "cosine_similarity;");
}

TEST_CASE("completion: another shell is refused, and a missing one") {
  const auto refused = [](const std::vector<std::string>& words) {
    const Result result = fledge_says(words);
    CHECK(result.status == 2);
    CHECK(result.out.empty());
    return two_lines(result.err);
  };
  CHECK(refused({"completion", "tcsh"}) ==
        "fledge completion: there are no completions for 'tcsh' | use bash, zsh or fish");
  CHECK(refused({"completion"}) ==
        "fledge completion: bash|zsh|fish is missing | see 'fledge completion --help'");
}
