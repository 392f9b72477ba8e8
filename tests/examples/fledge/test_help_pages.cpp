// The pages of fledge train --help and fledge generate --help, and what --help-all adds to them.
#include <algorithm>

#include "examples/support/text.h"
#include "tests/examples/fledge/training.h"

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
