// examples/birds_in_one_file.cpp finds what `make run` finds. planted/bugs.txt has wrong gradients,
// which its own check must notice.
#include <cmath>
#include <sstream>

#include "tests/examples/birds/command.h"
#include "tests/support/catch.h"

using namespace testing;

namespace {

const std::string one_file_program = FLEDGE_BINARY_DIR "/birds_in_one_file";

}  // namespace

TEST_CASE("birds in one file: the results of `make run`, part 3, from the same seed, or without") {
  for (const std::string seed : {"", "2"}) {
    CAPTURE(seed);
    const std::string option = seed.empty() ? "" : " --seed " + seed;
    const StrictJson whole = strict_json(birds_in_shell("\"$0\" --json" + option).out);
    const StrictJson &text = whole["text"], &walk = text["watch"][0];
    REQUIRE(walk["looks_at"].string() == "birds");
    const Result result = run({"sh", "-c", one_file_program + " " + seed});
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
}
