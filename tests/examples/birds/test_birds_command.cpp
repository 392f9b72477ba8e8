// birds as a command: its story on each kind of stream. What the story says, its shades
// too, is compared with examples/birds/README.md in lessons/test_course.cpp; what is refused:
// tests/command/birds.txt. Beside it examples/birds_in_one_file.cpp, whose own check must notice the
// wrong gradients of planted/bugs.txt.
#include <cmath>
#include <sstream>

#include "examples/birds/story.h"
#include "tests/examples/fledge/command.h"
#include "tests/examples/lessons/course.h"

using namespace testing;
using fledge::birds::TextStory;

namespace {

const std::string birds = FLEDGE_BINARY_DIR "/birds";

// The program of one file, with this seed or without, finds what part 3 of `make run` finds.
void check_one_file(const std::string& seed, const TextStory& story) {
  const TextStory::Seen& walk = story.watched.at(0);
  REQUIRE(walk.pair.looks_at == "birds");
  const Result result = run({"sh", "-c", FLEDGE_BINARY_DIR "/birds_in_one_file " + seed});
  CHECK(result.status == 0);
  CHECK(result.err.empty());
  // Two digits are printed. The engine rounds to float, which changes the fourth.
  const auto same = [](double printed, double found) {
    return std::abs(printed - found) <= 0.0065;
  };
  const std::vector<std::string> lines = lines_of(result.out);
  REQUIRE(lines.size() == 5);
  const std::string label = "birds sometimes walk,  walk -> birds  ";
  REQUIRE_THAT(lines[0], StartsWith(label));
  double before = 0, after = 0, p = 0;
  std::string word;
  std::istringstream(lines[0].substr(label.size())) >> before >> word >> after;
  CHECK((same(before, walk.before.attention) && same(after, walk.after.attention)));
  for (std::size_t i = 0; i < 3; ++i) {
    std::istringstream(lines[i + 1].substr(23)) >> word >> p;
    CHECK(word == story.completed.at(i).after.next);
    CHECK(same(p, story.completed.at(i).after.probability));
  }
  CHECK(lines[4] == "0 gradients differ from finite differences by 1e-8 or more");
}

}  // namespace

TEST_CASE("birds: ASCII in a pipe, colours on a terminal over the same words") {
  const Result piped = run({birds});
  CHECK(piped.status == 0);
  CHECK(piped.err.empty());
  const std::string& story = piped.out;
  check_layout(lines_of(story), true);
  const Result terminal = run_on_terminal({birds});
  CHECK(terminal.status == 0);
  CHECK_THAT(terminal.out, ContainsSubstring("\x1b["));
  CHECK(without_colours(terminal.out) == story);
}

TEST_CASE("birds: every parameter proved by both oracles; the bytes depend on the seed alone") {
  std::string last;
  for (const std::string seed : {"", "18446744073709551613"}) {
    CAPTURE(seed);
    const std::uint64_t number = seed.empty() ? 1 : std::stoull(seed);
    const TextStory story = fledge::birds::tell_text(number);
    const report::ModelProof proof = report::check_model(story.state, number);
    for (const auto& [check, most] : {std::pair{proof.differences, 1e-8}, {proof.dual, 1e-12}}) {
      CHECK((check.ok && check.elements == 3680));
      CHECK((check.max_error > 0 && check.max_error <= most));
    }
    check_one_file(seed, story);
    std::vector<std::string> command{birds};
    if (!seed.empty()) command.insert(command.end(), {"--seed", seed});
    const Result result = run(command);
    CHECK(result.status == 0);
    CHECK(result.err.empty());
    CHECK_THAT(result.out, EndsWith(fledge::birds::words(proof, support::Paint{false}) + "\n"));
    const std::size_t text = result.out.find("\n3. ");
    CHECK((last.empty() || last.substr(0, text) == result.out.substr(0, text)));
    CHECK(last != result.out);
    last = result.out;
    if (seed.empty()) CHECK(run({birds, "--seed", "1"}, {{"LC_ALL", "tr_TR"}}).out == last);
  }
}
