// The table of commands: every command has help, a version and a line in the help of fledge.
#include "examples/fledge/commands.h"

#include <set>

#include "examples/support/text.h"
#include "examples/support/version.h"
#include "tests/examples/fledge/command.h"
#include "tests/support/catch.h"

using namespace testing;

TEST_CASE("fledge: help lists every command with its purpose, in 80 columns") {
  const Result page = fledge_says({"--help"});
  CHECK(page.status == 0);
  CHECK(page.err.empty());
  CHECK(page.out == fledge::commands_help());
  CHECK(fledge_says({"help"}).out == page.out);
  CHECK(fledge_says({"-h"}).out == page.out);
  std::string joined = page.out;  // without the ends of wrapped lines
  for (std::size_t at = 0; (at = joined.find("\n      ", at)) != joined.npos;)
    joined.replace(at, joined.find_first_not_of(" \n", at) - at, " ");
  std::set<std::string> names;
  for (const fledge::Command& command : fledge::commands()) {
    CHECK(names.insert(command.name).second);
    CHECK_THAT(page.out, ContainsSubstring("  fledge " + command.name + " "));
    CHECK_THAT(joined, ContainsSubstring(" " + command.purpose));
  }
  for (const std::string& line : lines_of(page.out)) CHECK(support::display_width(line) <= 80);
}

TEST_CASE("fledge help COMMAND is fledge COMMAND --help, for every command and in 80 columns") {
  for (const fledge::Command& command : fledge::commands()) {
    CAPTURE(command.name);
    const Result page = fledge_says({command.name, "--help"});
    CHECK(page.status == 0);
    CHECK(page.err.empty());
    CHECK_THAT(page.out, ContainsSubstring("usage: fledge " + command.name));
    CHECK(fledge_says({"help", command.name}).out == page.out);
    for (const std::string& line :
         lines_of(page.out + fledge_says({command.name, "--help-all"}).out)) {
      CAPTURE(line);
      CHECK(support::display_width(line) <= 80);
    }
  }
}

TEST_CASE("--version is one line, of fledge, of each command and of birds") {
  const std::string line = support::version_of("fledge") + "\n";
  CHECK(fledge_says({"--version"}).out == line);
  for (const fledge::Command& command : fledge::commands()) {
    CAPTURE(command.name);
    const Result result = fledge_says({command.name, "--version"});
    CHECK(result.status == 0);
    CHECK(result.out == line);
    CHECK(result.err.empty());
  }
  CHECK(run({FLEDGE_BINARY_DIR "/birds", "--version"}).out == support::version_of("birds") + "\n");
}
