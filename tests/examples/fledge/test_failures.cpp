// fledge gradcheck with a table of wrong gradients (wrong_table.cpp): it fails,
// and says where.
#include <cmath>
#include <cstdlib>
#include <map>

#include "examples/support/terminal.h"
#include "tests/examples/fledge/command.h"
#include "tests/support/catch.h"

using namespace testing;

namespace {

const std::string wrong_program = FLEDGE_BINARY_DIR "/fledge_wrong";

/// Paragraphs with their later lines, which are indented, joined to the first.
std::string joined(std::string text) {
  for (std::size_t at = 0; (at = text.find("\n    ", at)) != text.npos;) text.replace(at, 5, " ");
  return text;
}

/// "fledge gradcheck: NAME: MESSAGE" paragraphs, by name.
std::map<std::string, std::string> messages(const std::string& err) {
  const std::string begin = "fledge gradcheck: ";
  std::map<std::string, std::string> result;
  for (const std::string& line : lines_of(err)) CHECK(line.size() <= 80);
  for (const std::string& line : lines_of(joined(err))) {
    CAPTURE(line);
    REQUIRE(line.starts_with(begin));
    const std::size_t end = line.find(": ", begin.size());
    REQUIRE(end != std::string::npos);
    result[line.substr(begin.size(), end - begin.size())] = line.substr(end + 2);
  }
  return result;
}

double number_after(const std::string& text, const std::string& before) {
  CAPTURE(text, before);
  REQUIRE(text.find(before) != std::string::npos);
  return std::strtod(text.c_str() + text.find(before) + before.size(), nullptr);
}

/// What backward() gave over what the oracles gave, as a message says.
double ratio_in(const std::string& message, const std::string& place) {
  return number_after(message, place + " is ") / number_after(message, " by backward(), ");
}

}  // namespace

TEST_CASE(
    "fledge gradcheck fails: status 1, the wrong rows marked, each "
    "explained on stderr") {
  const Result result = run({wrong_program, "gradcheck"});
  CHECK(result.status == 1);
  const std::vector<std::string> lines = lines_of(result.out);
  REQUIRE(lines.size() == 2 + 7 + 2);
  for (std::size_t i = 2; i + 2 < lines.size(); ++i)
    CHECK_THAT(lines[i], EndsWith(first_word(lines[i]) == "right" ? "  ok" : "  FAIL"));
  CHECK_THAT(lines[lines.size() - 2], StartsWith("1 passed, 6 failed; "));
  CHECK(lines.back() == "largest error nan (dual numbers), nan (differences)");
  CHECK(messages(result.err).size() == 6);
}

TEST_CASE(
    "fledge gradcheck fails: tensor, index, both numbers and the likely "
    "cause, by both oracles") {
  const auto said = messages(run({wrong_program, "gradcheck"}).err);
  const std::string& halved = said.at("halved");
  CHECK_THAT(halved, StartsWith("the gradient is wrong: input 0["));
  CHECK_THAT(halved, ContainsSubstring(" by dual numbers and differences; 6 elements, "));
  for (const std::string before : {"largest error ", "(dual), "})
    CHECK(std::abs(number_after(halved, before) - 0.5) < 1e-4);
  CHECK_THAT(halved, ContainsSubstring("likely cause: backward() gives 0.5 times the true"));
  CHECK(std::abs(ratio_in(halved, "]") - 0.5) < 1e-4);
  const std::string& doubled = said.at("doubled");
  CHECK_THAT(doubled, ContainsSubstring("input 1["));
  CHECK_THAT(doubled, ContainsSubstring("a contribution is counted twice"));
  CHECK(std::abs(ratio_in(doubled, "]") - 2) < 1e-4);
  CHECK_THAT(said.at("silent"), ContainsSubstring("zero in every element"));
  CHECK_THAT(said.at("early"), ContainsSubstring("only early positions"));
  CHECK_THAT(said.at("not finite"), ContainsSubstring("nan by backward(), "));
}

TEST_CASE("fledge gradcheck fails: a table of the five worst elements, and no error that is inf") {
  const Result result = run({wrong_program, "gradcheck"});
  CHECK_THAT(result.err, ContainsSubstring("missing\n    index   by backward()  expected    ratio  "
                                           "difference\n    [0, 0]  "));
  const std::string early = messages(result.err).at("early");
  CHECK(number_after(early, "difference [0, 0]") / number_after(early, "[0, 0] is ") == 1);
  CHECK_THAT(messages(result.err).at("unused"),
             StartsWith("this check could not have failed: ") && EndsWith("; 5 elements"));
  CHECK_THAT(result.out, !ContainsSubstring("inf"));
  CHECK_THAT(result.out, ContainsSubstring("unused      2 3           -            -  FAIL"));
}

TEST_CASE(
    "fledge gradcheck fails: --json says the same, and stays JSON with a "
    "NaN in it") {
  const Result result = run({wrong_program, "gradcheck", "--json"});
  CHECK(result.status == 1);
  const auto said = messages(result.err);
  const StrictJson whole = strict_json(result.out);
  REQUIRE(whole.array().size() == 2 * 7);
  for (const StrictJson& row : whole.array()) {
    const std::string& name = row["name"].string();
    CAPTURE(name);
    CHECK(row["ok"].boolean() == (name == "right"));
    CHECK(row.contains("problem") == (name != "right"));
    CHECK(row["max_error"].is_null() == (name == "not finite" || name == "unused"));
    if (name != "right") CHECK(joined(row["problem"].string()) == said.at(name));
  }
}

TEST_CASE(
    "fledge gradcheck fails: a right row alone is no failure, a wrong "
    "one is in red") {
  CHECK(run({wrong_program, "gradcheck", "right"}).status == 0);
  const Result wrong = run_on_terminal({wrong_program, "gradcheck", "halved"});
  CHECK(wrong.status == 1);
  CHECK_THAT(wrong.out, ContainsSubstring("\x1b[1m" + support::Paint{true}.bad("FAIL")));
}
