// The pages of fledge train --help and fledge generate --help, and what --help-all adds to them.
#include <algorithm>

#include "examples/fledge/commands.h"
#include "examples/support/text.h"
#include "tests/examples/fledge/models.h"

using namespace testing;

namespace {

/// "--steps" and its kin, as they stand in a text.
Words options_in(const std::string& text) {
  Words found;
  for (std::size_t at = 0; (at = text.find("--", at)) != text.npos; at += 2) {
    const std::size_t end =
        std::min(text.find_first_not_of("abcdefghijklmnopqrstuvwxyz-", at), text.size());
    found.push_back(text.substr(at, end - at));
  }
  std::sort(found.begin(), found.end());
  found.erase(std::unique(found.begin(), found.end()), found.end());
  return found;
}

}  // namespace

TEST_CASE("fledge: sentences fit a narrow terminal; a name, a command or a table is not broken") {
  const auto check_width = [](const Words& arguments, int columns, auto is_whole) {
    const Result result = fledge_says(arguments, {{"COLUMNS", std::to_string(columns)}});
    CAPTURE(arguments, columns);
    CHECK(result.status == 0);
    for (const std::string& line : lines_of(result.out)) {
      CAPTURE(line);
      CHECK((support::display_width(line) <= columns || is_whole(line)));
    }
  };
  const auto is_name = [](const std::string& line) {
    const bool is_one_word = line.find(' ', line.find_first_not_of(' ')) == line.npos;
    return is_one_word || line.starts_with("  -") || line.starts_with("  fledge");
  };
  const auto is_row = [](const std::string& line) { return line.find("  ") != line.npos; };
  for (const int columns : {40, 60}) {
    check_width({"--help"}, columns, is_name);
    for (const fledge::Command& command : fledge::commands())
      for (const char* page : {"--help", "--help-all"})
        check_width({command.name, page}, columns, is_name);
    check_width({"gradcheck", "--explain", "softmax[0,1]"}, columns, is_row);
    check_width({"eval", models().words()}, columns, is_row);
    check_width({"inspect", models().words()}, columns, is_row);
  }
}

TEST_CASE("fledge train, generate: help is a page of 24 lines of 80 columns, and all explained") {
  for (const char* command : {"train", "generate"}) {
    CAPTURE(command);
    const Result page = fledge_says({command, "--help"}),
                 all = fledge_says({command, "--help-all"});
    CHECK(page.status == 0);
    CHECK(page.err.empty());
    CHECK(all.status == 0);
    CHECK(lines_of(page.out).size() <= 24);
    for (const Result* result : {&page, &all})
      for (const std::string& line : lines_of(result->out)) {
        CAPTURE(line);
        CHECK(support::display_width(line) <= 80);
      }
    const Words explained = options_in(all.out);
    for (const std::string& option : options_in(page.out)) {
      CAPTURE(option);
      CHECK(std::binary_search(explained.begin(), explained.end(), option));
    }
  }
  for (const char* option : {"--probe", "--lr", "--resume"})
    CHECK_THAT(fledge_says({"train", "--help-all"}).out,
               ContainsSubstring(std::string("  ") + option));
  for (const char* option : {"-n, --samples N", "--why WORD"})
    CHECK_THAT(fledge_says({"generate", "--help-all"}).out, ContainsSubstring(option));
}
