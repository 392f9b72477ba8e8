// birds as a command: its story and its JSON on each kind of stream. What the story says, its shades
// too, is compared with examples/birds/README.md in lessons/test_course.cpp; what is refused:
// tests/command/birds.txt. Beside it examples/birds_in_one_file.cpp, whose own check must notice the
// wrong gradients of planted/bugs.txt.
#include <algorithm>
#include <cmath>
#include <sstream>

#include "examples/support/text.h"
#include "tests/examples/fledge/command.h"
#include "tests/support/catch.h"

using namespace testing;

namespace {

const std::string birds = FLEDGE_BINARY_DIR "/birds";

// The program of one file, with this seed or without, finds what part 3 of `make run` finds.
void check_one_file(const std::string& seed, const StrictJson& text) {
  const StrictJson& walk = text["watch"][0];
  REQUIRE(walk["looks_at"].string() == "birds");
  const Result result = run({"sh", "-c", FLEDGE_BINARY_DIR "/birds_in_one_file " + seed});
  CHECK(result.status == 0);
  CHECK(result.err.empty());
  // Two digits are printed. The engine rounds to float, which changes the fourth.
  const auto same = [](double printed, const StrictJson& number) {
    return std::abs(printed - number.number()) <= 0.0065;
  };
  const std::vector<std::string> lines = lines_of(result.out);
  REQUIRE(lines.size() == 5);
  const std::string label = "birds sometimes walk,  walk -> birds  ";
  REQUIRE_THAT(lines[0], StartsWith(label));
  double before = 0, after = 0, p = 0;
  std::string word;
  std::istringstream(lines[0].substr(label.size())) >> before >> word >> after;
  CHECK((same(before, walk["attention_before"]) && same(after, walk["attention_after"])));
  for (std::size_t i = 0; i < 3; ++i) {
    std::istringstream(lines[i + 1].substr(23)) >> word >> p;
    CHECK(word == text["completions"][i]["next"].string());
    CHECK(same(p, text["completions"][i]["probability"]));
  }
  CHECK(lines[4] == "0 gradients differ from finite differences by 1e-8 or more");
}

}  // namespace

TEST_CASE("birds: ASCII in a pipe, colours on a terminal over the same words") {
  const Result piped = run({birds});
  CHECK(piped.status == 0);
  CHECK(piped.err.empty());
  const std::string& story = piped.out;
  CHECK(std::all_of(story.begin(), story.end(),
                    [](char c) { return c == '\n' || (c >= ' ' && c <= '~'); }));
  const Result terminal = run_on_terminal({birds});
  CHECK(terminal.status == 0);
  CHECK_THAT(terminal.out, ContainsSubstring("\x1b["));
  CHECK(without_colours(terminal.out) == story);
  for (const std::string& line : lines_of(story)) CHECK(support::display_width(line) <= 80);
}

TEST_CASE(
    "birds --json: every parameter proved by both oracles; the bytes depend on the seed alone") {
  std::string last;
  for (const std::string seed : {"", "18446744073709551613"}) {
    CAPTURE(seed);
    std::vector<std::string> command{birds, "--json"};
    if (!seed.empty()) command.insert(command.end(), {"--seed", seed});
    const Result result = run(command);
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
    check_one_file(seed, whole["text"]);
    const std::size_t text = result.out.find("\"text\"");
    CHECK((last.empty() || last.substr(0, text) == result.out.substr(0, text)));
    CHECK(last != result.out);
    last = result.out;
    if (!seed.empty()) continue;
    const Environment turkish{{"LC_ALL", "tr_TR.UTF-8"}, {"FORCE_COLOR", "1"}};
    CHECK(run_on_terminal({birds, "--json", "--seed", "1"}, turkish).out == last);
  }
}
