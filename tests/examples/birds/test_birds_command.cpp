// birds as a command: its story and its JSON on each kind of stream. What the story says is compared
// with examples/birds/README.md, line by line, in lessons/test_readme.cpp; what is refused: tests/command/birds.txt.
#include <unistd.h>

#include <algorithm>
#include <map>

#include "examples/support/text.h"
#include "tests/examples/birds/command.h"
#include "tests/support/catch.h"
#include "tests/support/sanitized.h"
#include "tests/support/skipped.h"

using namespace testing;

namespace {

/// The bytes that birds prints with these arguments, each computed once; a run with a message or
/// another status than 0 fails.
const std::string& printed(const std::string& arguments) {
  static std::map<std::string, std::string> texts;
  std::string& text = texts[arguments];
  if (!text.empty()) return text;
  const Result result = birds_in_shell("\"$0\" " + arguments);
  CHECK(result.status == 0);
  CHECK(result.err.empty());
  return text = result.out;
}

}  // namespace

TEST_CASE("birds: ASCII in a pipe, colours on a terminal over the same words") {
  if (sanitized) {
    testing::report_skipped("a sanitizer sees birds --json, and its words in test_story.cpp");
    return;
  }
  const std::string& story = printed("");
  REQUIRE(story.size() > 3000);
  CHECK(std::all_of(story.begin(), story.end(),
                    [](char c) { return c == '\n' || (c >= ' ' && c <= '~'); }));
  CHECK(story.find("FAIL") == std::string::npos);
  const Result terminal = run_on_terminal(birds_with({}));
  CHECK(terminal.status == 0);
  CHECK_THAT(terminal.out, ContainsSubstring("\x1b["));
  CHECK(without_colours(terminal.out) == story);
  CHECK(run_on_terminal(birds_with({}), {{"NO_COLOR", "1"}}).out == story);
  const Result shades = run_on_terminal(birds_with({}), {{"LC_ALL", "C.UTF-8"}});
  CHECK_THAT(shades.out, ContainsSubstring("█"));
  for (const std::string& out : {story, shades.out})
    for (const std::string& line : lines_of(out)) CHECK(support::display_width(line) <= 80);
}

TEST_CASE("birds: results that cannot be written are a failure, reported in two lines") {
  std::vector<std::string> lines{"\"$0\" --help >&-"};
  if (access("/dev/full", W_OK) == 0)  // Linux and NetBSD have it
    for (const std::string arguments : {"--help", "--json", ""})
      if (!sanitized || arguments == "--help")
        lines.push_back("\"$0\" " + arguments + " >/dev/full");
  for (const std::string& line : lines) {
    CAPTURE(line);
    const Result lost = birds_in_shell(line);
    CHECK(lost.status == 1);
    CHECK_THAT(lost.err, StartsWith("birds: cannot write to standard output: "));
    CHECK(lines_of(lost.err).size() == 2);
  }
}

TEST_CASE("birds: each part is told when it is found, and a reader that has gone is told nothing") {
  const Result first = birds_in_shell("\"$0\" | head -n 1");
  CHECK_THAT(first.out, StartsWith("Attention is the part of a language model"));
  CHECK(lines_of(first.out).size() == 1);
  CHECK(first.err.empty());
  if (!sanitized) CHECK(birds_in_shell("trap '' PIPE; \"$0\" --json | true").err.empty());
}

TEST_CASE("birds --json: one object of four keys, every parameter proved by both oracles") {
  for (const char* arguments :
       {"--json", "--json --seed 7", "--json --seed 18446744073709551615"}) {
    CAPTURE(arguments);
    const std::string& text = printed(arguments);
    CHECK_THAT(text, StartsWith("{") && EndsWith("}\n"));
    const StrictJson whole = strict_json(text);
    std::vector<std::string> keys;
    for (const auto& member : whole.object()) keys.push_back(member.first);
    CHECK(keys == std::vector<std::string>{"by_hand", "learning", "text", "gradcheck"});
    const StrictJson& gradcheck = whole["gradcheck"];
    CHECK(gradcheck["ok"].boolean());
    CHECK(gradcheck["parameters"].number() > 3000);
    for (const auto& [oracle, most] : {std::pair{"finite_difference", 1e-8}, {"dual", 1e-12}}) {
      CHECK(gradcheck[oracle].number() > 0);
      CHECK(gradcheck[oracle].number() <= most);
    }
    if (sanitized) break;
  }
}

TEST_CASE("birds --json: the bytes depend on the seed, 1 unless given, and on nothing else") {
  if (sanitized) {
    testing::report_skipped("a sanitizer has seen birds --json");
    return;
  }
  const std::string &one = printed("--json"), &seven = printed("--json --seed 7");
  CHECK(printed("--json --seed=1") == one);
  CHECK(birds_says({"--seed=7", "--json"}).out == seven);
  CHECK(seven != one);
  CHECK(printed("--json --seed 18446744073709551615") != seven);
  CHECK(seven.substr(0, seven.find("\"text\"")) == one.substr(0, one.find("\"text\"")));
  CHECK(birds_says({"--json"}, {{"LC_ALL", "de_DE.UTF-8"}}).out == one);
  const Environment turkish{{"LC_ALL", "tr_TR.UTF-8"}, {"FORCE_COLOR", "1"}};
  CHECK(run_on_terminal(birds_with({"--json"}), turkish).out == one);
}
