// birds as a command: its story and its JSON on each kind of stream. What the story says is compared
// with examples/birds/README.md in lessons/test_course.cpp; what is refused: tests/command/birds.txt.
#include <algorithm>

#include "examples/support/text.h"
#include "tests/examples/birds/command.h"
#include "tests/support/catch.h"
#include "tests/support/sanitized.h"
#include "tests/support/skipped.h"

using namespace testing;

TEST_CASE("birds: ASCII in a pipe, colours on a terminal over the same words") {
  if (sanitized) {
    testing::report_skipped("a sanitizer sees birds --json, and its words in test_story.cpp");
    return;
  }
  const Result piped = birds_says({});
  CHECK(piped.status == 0);
  CHECK(piped.err.empty());
  const std::string& story = piped.out;
  CHECK(std::all_of(story.begin(), story.end(),
                    [](char c) { return c == '\n' || (c >= ' ' && c <= '~'); }));
  const Result terminal = run_on_terminal(birds_with({}));
  CHECK(terminal.status == 0);
  CHECK_THAT(terminal.out, ContainsSubstring("\x1b["));
  CHECK(without_colours(terminal.out) == story);
  const Result shades = run_on_terminal(birds_with({}), {{"LC_ALL", "C.UTF-8"}, {"NO_COLOR", "1"}});
  CHECK_THAT(shades.out, ContainsSubstring("█") && !ContainsSubstring("\x1b["));
  for (const std::string& out : {story, shades.out})
    for (const std::string& line : lines_of(out)) CHECK(support::display_width(line) <= 80);
}

TEST_CASE(
    "birds --json: every parameter proved by both oracles; the bytes depend on the seed alone") {
  std::string last;
  for (const std::string seed : {"1", "18446744073709551615"}) {
    CAPTURE(seed);
    const Result result = birds_says({"--json", "--seed", seed});
    CHECK(result.status == 0);
    CHECK(result.err.empty());
    CHECK_THAT(result.out, StartsWith("{") && EndsWith("}\n"));
    const StrictJson whole = strict_json(result.out);
    std::vector<std::string> keys;
    for (const auto& member : whole.object()) keys.push_back(member.first);
    CHECK(keys == std::vector<std::string>{"by_hand", "learning", "text", "gradcheck"});
    const StrictJson& gradcheck = whole["gradcheck"];
    CHECK(gradcheck["ok"].boolean());
    CHECK(gradcheck["parameters"].number() == 3680);
    for (const auto& [oracle, most] : {std::pair{"finite_difference", 1e-8}, {"dual", 1e-12}})
      CHECK((gradcheck[oracle].number() > 0 && gradcheck[oracle].number() <= most));
    if (sanitized) return;
    const std::size_t text = result.out.find("\"text\"");
    CHECK((last.empty() || last.substr(0, text) == result.out.substr(0, text)));
    CHECK(last != result.out);
    last = result.out;
    if (seed != "1") continue;
    const Environment turkish{{"LC_ALL", "tr_TR.UTF-8"}, {"FORCE_COLOR", "1"}};
    CHECK(run_on_terminal(birds_with({"--json"}), turkish).out == last);
  }
}
