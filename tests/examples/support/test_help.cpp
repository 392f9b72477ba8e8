#include <sstream>

#include "examples/support/help.h"
#include "examples/support/options.h"
#include "examples/support/text.h"
#include "tests/support/catch.h"

using namespace support;

TEST_CASE("help: the usage line shows the arguments") {
  const auto usage = [](std::size_t least, std::size_t most) {
    Options options("show", "Shows.");
    options.arguments("FILE", least, most);
    const std::string help = options.help();
    const std::size_t begin = help.find("usage: ");
    return help.substr(begin, help.find('\n', begin) - begin);
  };
  CHECK(usage(1, 1) == "usage: show FILE");
  CHECK(usage(0, 1) == "usage: show [FILE]");
  CHECK(usage(1, 9) == "usage: show FILE ...");
  CHECK(usage(0, 9) == "usage: show [FILE ...]");
  Options options("show", "Shows.");
  options.arguments("DIR [FILE]", 1, 2);
  CHECK_THAT(options.help(), ContainsSubstring("usage: show DIR [FILE]\n"));
}

TEST_CASE("help: ten options fit on a page of 24 lines of 80 columns, long texts are broken") {
  Options options(
      "fledge gradcheck",
      "Checks every gradient of every operation, of every module and of a whole model of "
      "two layers, with two oracles.");
  options.example("fledge gradcheck", "everything, in half a minute");
  std::int64_t number = 5;
  for (int i = 0; i < 9; ++i)
    options.add("--option-" + std::to_string(i), "N", number, "what this one changes", {0, 9});
  std::string name = "x";
  options.add("--one-more", "NAME", name,
              "a longer explanation that has to be broken between words because it is wider than "
              "a terminal");
  std::istringstream lines(options.help());
  std::string line;
  int count = 0;
  for (; std::getline(lines, line); ++count) {
    CHECK(display_width(line) <= 80);
    CHECK((line.empty() || line.back() != ' '));
  }
  CHECK(count <= 24);
  CHECK_THAT(options.help(), ContainsSubstring("explanation that has to be broken between words\n"
                                               "                   because"));
}

TEST_CASE("help: a name that is wider than its column stands above its meaning") {
  CHECK(help_columns({{"--a", "one"}, {"--what-if-this-is-a-very-long-name TEXT...", "two"}}) ==
        "  --a  one\n"
        "  --what-if-this-is-a-very-long-name TEXT...\n"
        "       two\n");
}
