// examples/birds_in_one_file.cpp finds what `make run` finds, and notices a wrong gradient.
#include <cmath>
#include <sstream>

#include "tests/examples/birds/command.h"
#include "tests/examples/one_file/wrong_gradients.h"

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

TEST_CASE("birds in one file: a seed that is no number is refused") {
  for (const char* seed : {"x", "", "7x", "-1", "99999999999999999999999"}) {
    const Result result = run({one_file_program, seed});
    CHECK(result.status == 2);
    CHECK(result.out.empty());
    CHECK(result.err == "birds_in_one_file: the seed must be a whole number\n");
  }
}

TEST_CASE("birds in one file: its check notices a wrong gradient") {
  const std::string whole = text_of(FLEDGE_SOURCE_DIR "/examples/birds_in_one_file.cpp");
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
