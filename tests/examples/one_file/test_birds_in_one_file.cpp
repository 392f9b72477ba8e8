// examples/birds_in_one_file.cpp finds what `make run` finds, and notices a wrong gradient.
#include <cmath>
#include <sstream>

#include "tests/examples/birds/command.h"
#include "tests/examples/one_file/wrong_gradients.h"

using namespace testing;

namespace {

const std::string one_file_program = FLEDGE_BINARY_DIR "/birds_in_one_file";

struct OneFileResults {
  double before = 0, walk_to_birds = 0;
  std::vector<std::string> words;  // in the three blanks
  std::vector<double> probabilities;
};

OneFileResults one_file_finds(std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), one_file_program);
  const Result result = run(arguments);
  CHECK(result.status == 0);
  CHECK(result.err.empty());
  CHECK_THAT(result.out,
             EndsWith("\n0 gradients differ from finite differences by 1e-8 or more\n"));
  const std::vector<std::string> lines = lines_of(result.out);
  REQUIRE(lines.size() == 5);
  OneFileResults found;
  const std::string label = "birds sometimes walk,  walk -> birds  ";
  REQUIRE_THAT(lines[0], StartsWith(label));
  std::string word, arrow;
  std::istringstream(lines[0].substr(label.size())) >> found.before >> arrow >> found.walk_to_birds;
  for (std::size_t i = 1; i <= 3; ++i) {
    found.probabilities.push_back(0);
    std::istringstream(lines[i].substr(23)) >> word >> found.probabilities.back();
    found.words.push_back(word);
  }
  return found;
}

}  // namespace

TEST_CASE("birds in one file: the results of `make run`, part 3, from the same seed, or without") {
  // Two digits are printed. The engine rounds to float, which changes the fourth.
  const auto same = [](double printed, const StrictJson& number) {
    return std::abs(printed - number.number()) <= 0.0065;
  };
  for (const std::vector<std::string>& seed : {std::vector<std::string>{}, {"2"}}) {
    CAPTURE(seed);
    const OneFileResults found = one_file_finds(seed);
    const std::string option = seed.empty() ? "" : " --seed " + seed[0];
    const StrictJson whole = strict_json(birds_in_shell("\"$0\" --json" + option).out);
    const StrictJson& story = whole["text"];
    const StrictJson& walk = story["watch"][0];
    REQUIRE(walk["looks_at"].string() == "birds");
    CHECK(same(found.before, walk["attention_before"]));
    CHECK(same(found.walk_to_birds, walk["attention_after"]));
    for (std::size_t i = 0; i < 3; ++i) {
      const StrictJson& blank = story["completions"][i];
      CHECK(found.words[i] == blank["next"].string());
      CHECK(same(found.probabilities[i], blank["probability"]));
    }
  }
}

TEST_CASE("birds in one file: a seed that is no number is refused") {
  for (const char* seed : {"x", "", "7x", "-1", "99999999999999999999999"}) {
    const Result result = run({one_file_program, seed});
    CHECK(result.status == 2);
    CHECK(result.out.empty());
    CHECK(result.err == "birds_in_one_file: the seed must be a whole number\n");
  }
}

TEST_CASE("birds in one file: its check notices a wrong gradient") {
  const std::string whole = source_text(FLEDGE_SOURCE_DIR "/examples/birds_in_one_file.cpp");
  check_notices(changed(whole, {"t <= 500", "t <= 60"}), {},
                {
                    {"a.dx[ik] += y.dx[ij] * b.x[kj];", ""},
                    {"b.dx[kj] += a.x[ik] * y.dx[ij];", "b.dx[kj] = a.x[ik] * y.dx[ij];"},
                    {"a.dx[i] += y.dx[i] * f(a.x[i], b.x[i])[1];",
                     "a.dx[i] = y.dx[i] * f(a.x[i], b.x[i])[1];"},
                    {"b.dx[i] += y.dx[i] * f(a.x[i], b.x[i])[2];", ""},
                    {"{a + b, 1, 1}", "{a + b, 1, 0}"},
                    {"{a * b, b, a}", "{a * b, a, a}"},
                    {"-a / (b * b)}", "-a / b}"},
                    {"{std::exp(a), std::exp(a), 0}", "{std::exp(a), 1, 0}"},
                    {"{std::log(a), 1 / a, 0}", "{std::log(a), 1, 0}"},
                    {"0.5 / std::sqrt(a)", "1 / std::sqrt(a)"},
                    {"(1 + 3 * 0.044715 * a * a)", "(1 + 0.044715 * a * a)"},
                    {"result = tape.rbegin(); result != tape.rend();",
                     "result = tape.begin(); result != tape.end();"},
                });
}
