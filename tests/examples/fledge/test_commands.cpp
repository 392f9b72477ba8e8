// The table of commands: each has pages of help that fit a terminal, a version, and a line in the
// help of fledge. tests/command/help.txt has the pages.
#include "examples/fledge/commands.h"

#include <set>

#include "examples/support/text.h"
#include "tests/examples/fledge/command.h"

using namespace testing;

namespace {

/// "--steps" and its kin, as they stand in a text.
std::set<std::string> options_in(const std::string& text) {
  std::set<std::string> found;
  for (std::size_t at = 0; (at = text.find("--", at)) != text.npos; at += 2)
    found.insert(text.substr(at, text.find_first_not_of("abcdefghijklmnopqrstuvwxyz-", at) - at));
  return found;
}

std::string page_of(const Words& arguments, int columns = 80) {
  CAPTURE(arguments, columns);
  const Result page = fledge_says(arguments, {{"COLUMNS", std::to_string(columns)}});
  CHECK(page.status == 0);
  CHECK(page.err.empty());
  CHECK_THAT(page.out, EndsWith("\n"));
  for (const std::string& line : lines_of(page.out)) {
    CAPTURE(line);
    // A word is not broken, and neither is an example.
    const bool is_whole =
        line.find(' ', line.find_first_not_of(' ')) == line.npos || line.starts_with("  fledge");
    CHECK((support::display_width(line) <= columns || (columns < 80 && is_whole)));
  }
  return page.out;
}

}  // namespace

TEST_CASE("fledge: help lists every command; the pages of each fit every terminal") {
  const std::string list = page_of({"--help"}), version = page_of({"--version"});
  std::string joined = list;  // without the ends of wrapped lines
  for (std::size_t at = 0; (at = joined.find("\n      ", at)) != joined.npos;)
    joined.replace(at, joined.find_first_not_of(" \n", at) - at, " ");
  std::set<std::string> names;
  for (const fledge::Command& command : fledge::commands()) {
    CAPTURE(command.name);
    CHECK(names.insert(command.name).second);
    CHECK_THAT(list, ContainsSubstring("  fledge " + command.name + " "));
    CHECK_THAT(joined, ContainsSubstring(" " + command.purpose));
    CHECK(page_of({command.name, "--version"}) == version);
    const std::string page = page_of({command.name, "--help"}),
                      all = page_of({command.name, "--help-all"});
    CHECK_THAT(page, ContainsSubstring("usage: fledge " + command.name));
    const std::set<std::string> explained = options_in(all);
    for (const std::string& option : options_in(page)) CHECK(explained.contains(option));
    for (const int columns : {40, 60})
      for (const char* which : {"--help", "--help-all"}) page_of({command.name, which}, columns);
  }
  CHECK(lines_of(list).size() <= 24);
  for (const char* command : {"train", "generate", "gradcheck"})
    CHECK(lines_of(page_of({command, "--help"})).size() <= 24);
  CHECK(run({FLEDGE_BINARY_DIR "/birds", "--version"}).out.substr(5) == version.substr(6));
}
