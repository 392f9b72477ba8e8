// The exercises: with the blanks of the repository each is open, with the solutions each is
// solved, and wrong answers are refused with a sentence.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <regex>
#include <sstream>
#include <string>
#include <vector>

#include "examples/support/text.h"
#include "tests/examples/exercises/wrong_sentences.h"
#include "tests/support/catch.h"
#include "tests/support/process.h"

namespace exercise_tests {
namespace {

namespace fs = std::filesystem;
using testing::Result;

const fs::path source_root = FLEDGE_SOURCE_DIR, build_root = FLEDGE_BINARY_DIR;

/// build/exercises, or another program with other answers: exercises_solutions, exercises_wrong.
Result run_program(const std::string& program, const std::vector<std::string>& arguments = {},
                   testing::Environment environment = {}) {
  environment.emplace("LC_ALL", "C.UTF-8");
  std::vector<std::string> argv{(build_root / program).string()};
  argv.insert(argv.end(), arguments.begin(), arguments.end());
  return testing::run(argv, environment);
}

std::vector<std::string> lines_of(const std::string& text) {
  std::istringstream stream(text);
  std::vector<std::string> lines;
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

std::string text_of(const fs::path& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

/// The text with one blank between two words.
std::string joined(const std::string& text) {
  std::istringstream stream(text);
  std::string words;
  for (std::string word; stream >> word;) words += (words.empty() ? "" : " ") + word;
  return words;
}

bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

/// "01_forget_birds.cpp" and so on, sorted.
std::vector<std::string> files() {
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(source_root / "examples/exercises")) {
    const std::string name = entry.path().filename().string();
    if (name[0] >= '0' && name[0] <= '9') names.push_back(name);
  }
  std::sort(names.begin(), names.end());
  return names;
}

/// What printf makes of an infinity or a NaN.
const std::regex no_number("\\b(inf|nan)\\b");

struct Line {
  std::string number, title, state, file;
};

/// The rows of the overview.
std::vector<Line> overview(const std::string& program) {
  const Result result = run_program(program);
  CHECK(result.status == 0);
  CHECK(result.err.empty());
  std::vector<Line> rows;
  for (const std::string& line : lines_of(result.out)) {
    if (line.size() < 5 || !has(line, ".cpp") || line[0] == 'E') continue;
    const std::string words = joined(line);
    const std::size_t first = words.find(' '), last = words.rfind(' ');
    const std::string middle = words.substr(first + 1, last - first - 1);
    for (const std::string state : {"solved", "open", "not yet"})
      if (middle.ends_with(" " + state))
        rows.push_back({words.substr(0, first), middle.substr(0, middle.size() - state.size() - 1),
                        state, words.substr(last + 1)});
  }
  return rows;
}

std::vector<std::string> numbers() {
  std::vector<std::string> all;
  for (std::size_t i = 1; i <= files().size(); ++i) all.push_back(std::to_string(i));
  return all;
}

}  // namespace

TEST_CASE("exercises: the blanks are open, none is solved") {
  const auto rows = overview("exercises");
  REQUIRE(rows.size() == files().size());
  CHECK(rows.size() >= 14);
  bool has_answers = false;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    CHECK(rows[i].number == std::to_string(i + 1));
    CHECK(rows[i].file == files()[i]);
    INFO(rows[i].file);
    if (!has(text_of(source_root / "examples/exercises" / rows[i].file), "FILL")) {
      has_answers = true;
      continue;  // someone has solved it; .ci/run makes sure that the repository has only blanks
    }
    CHECK(rows[i].state == "open");
    const Result one = run_program("exercises", {rows[i].number});
    CHECK(one.status == 1);
    CHECK(one.err.empty());
    CHECK(has(one.out, "FILL"));
    CHECK(has(one.out, "Replace FILL in examples/exercises/" + rows[i].file + ".\n"));
    CHECK(has(joined(one.out), "Then type: make exercises N=" + rows[i].number + " A hint:"));
    CHECK_FALSE(has(one.out, "   ok "));
    CHECK_FALSE(has(one.out, "FALSE"));
  }
  if (has_answers) return;
  const std::string all = run_program("exercises").out;
  CHECK(has(all, "\n0 of " + std::to_string(rows.size()) + " solved.\nNext: make exercises N=1 "));
}

TEST_CASE("exercises: with the solutions each is solved") {
  const auto rows = overview("exercises_solutions");
  REQUIRE(rows.size() == files().size());
  for (const Line& row : rows) {
    INFO(row.file);
    CHECK(row.state == "solved");
    const Result one = run_program("exercises_solutions", {row.number});
    CHECK(one.status == 0);
    CHECK(has(one.out, "   ok "));
    CHECK_FALSE(has(one.out, "FALSE"));
    CHECK(has(one.out, "Exercise " + row.number + ": solved.\n"));
    CHECK_FALSE(has(one.out, "Then type"));
  }
  const std::string all = run_program("exercises_solutions").out;
  CHECK(
      has(all, std::to_string(rows.size()) + " of " + std::to_string(rows.size()) + " solved.\n"));
  CHECK_FALSE(has(all, "Next:"));
}

TEST_CASE("exercises: wrong answers are refused, and a sentence says what they do") {
  for (const std::string& number : numbers()) {
    INFO("exercise " << number);
    CHECK(std::any_of(tests::wrong_sentences.begin(), tests::wrong_sentences.end(),
                      [&](const auto& wrong) { return std::to_string(wrong.exercise) == number; }));
  }
  for (const auto& [exercise, variant, sentence] : tests::wrong_sentences) {
    const Result one = run_program("exercises_wrong", {std::to_string(exercise)},
                                   {{"FLEDGE_WRONG", std::to_string(variant)}});
    INFO("exercise " << exercise << ", wrong answer " << variant << "\n" << one.out << sentence);
    CHECK(one.status == 1);
    CHECK(has(joined(one.out), sentence));
    CHECK(has(one.out, "Exercise " + std::to_string(exercise) + ": not yet.\nChange examples/"));
  }
  const auto rows = overview("exercises_wrong");
  REQUIRE(rows.size() == files().size());
  for (const Line& row : rows) CHECK(row.state == "not yet");
}

TEST_CASE("exercises: hints are printed on request only, the gentle ones first") {
  for (const std::string& number : numbers()) {
    INFO("exercise " << number);
    const std::string none = run_program("exercises", {number}).out,
                      one = run_program("exercises", {number, "--hint", "1"}).out,
                      two = run_program("exercises", {number, "--hint", "2"}).out,
                      all = run_program("exercises", {number, "--hint", "9"}).out;
    CHECK_FALSE(has(none, "Hint 1"));
    CHECK(has(joined(none), "A hint: make exercises N=" + number + " HINT=1"));
    CHECK(has(one, "   Hint 1 of "));
    CHECK_FALSE(has(one, "Hint 2"));
    CHECK_FALSE(has(one, "That was the last hint."));
    CHECK(has(one, "The next hint: make exercises N=" + number + " HINT=2\n"));
    CHECK(has(two, "   Hint 2 of "));
    CHECK(has(all, two.substr(two.find("   Hint 1 of"), 40)));
    CHECK(has(all, "That was the last hint."));
    CHECK_FALSE(has(all, "HINT="));
  }
}

TEST_CASE("exercises: wrong usage ends with 2 and says what is right") {
  const std::string range = "the exercises are numbered 1 to " + std::to_string(files().size());
  for (const char* word : {"0", "99", "x", "1x", "", "99999999999999999999"}) {
    INFO(word);
    const Result result = run_program("exercises", {word});
    CHECK(result.status == 2);
    CHECK(result.out.empty());
    CHECK(has(result.err, "exercises: there is no exercise '"));
    CHECK(has(result.err, range));
  }
  const Result two = run_program("exercises", {"1", "2"});
  CHECK(two.status == 2);
  CHECK(has(two.err, "unexpected argument '2'"));
  CHECK(has(two.err, "with make: make exercises N=3 HINT=1"));
  for (const char* hint : {"0", "x", "10", "-1"}) {
    INFO(hint);
    const Result refused = run_program("exercises", {"1", "--hint=" + std::string(hint)});
    CHECK(refused.status == 2);
    CHECK(has(refused.err, "HINT (--hint) must be a whole number from 1 to 9, not '"));
    CHECK(has(refused.err, "make exercises N=3 HINT=1"));
  }
  const Result result = run_program("exercises", {"--hint", "1"});
  CHECK(result.status == 2);
  CHECK(has(result.err, "a hint belongs to one exercise"));
  const Result help = run_program("exercises", {"--help"});
  CHECK(help.status == 0);
  CHECK(has(help.out, "1 exercise N is not solved"));
}

TEST_CASE("exercises: a very long query is solved, and the text has no infinity and no NaN") {
  const Result one = run_program("exercises_wrong", {"5"}, {{"FLEDGE_WRONG", "4"}});
  CHECK(one.status == 0);
  CHECK(has(joined(one.out),
            "is exp(-4000) of the weight of key 2, or less. The program computes 0"));
  CHECK_FALSE(std::regex_search(one.out, no_number));
}

TEST_CASE("exercises: each wrong answer fits into 80 columns, and only infinite answers say inf") {
  for (const auto& [exercise, variant, sentence] : tests::wrong_sentences) {
    INFO("exercise " << exercise << ", wrong answer " << variant);
    const Result one = run_program("exercises_wrong", {std::to_string(exercise)},
                                   {{"FLEDGE_WRONG", std::to_string(variant)}});
    for (const std::string& line : lines_of(one.out)) {
      INFO(line);
      CHECK(support::display_width(line) <= 80);
      CHECK((!std::regex_search(line, no_number) || has(sentence, "inf")));
      CHECK_FALSE(std::regex_search(line, std::regex("-0(\\.0+)?(?![.0-9])")));
    }
  }
}

TEST_CASE("exercises: 80 columns, ASCII where there is no UTF-8, colours as wished") {
  for (const char* program : {"exercises", "exercises_solutions", "exercises_wrong"}) {
    std::string out = run_program(program, {}, {{"LC_ALL", "C"}}).out;
    for (const std::string& number : numbers())
      out += run_program(program, {number, "--hint", "9"}, {{"LC_ALL", "C"}}).out;
    for (const std::string& line : lines_of(out)) {
      INFO(line);
      CHECK(support::display_width(line) <= 80);
      CHECK(std::all_of(line.begin(), line.end(), [](char c) { return c >= ' ' && c <= '~'; }));
    }
  }
  const std::string program = (build_root / "exercises_solutions").string();
  CHECK(has(testing::run({program}, {{"FORCE_COLOR", "1"}}).out, "\x1b["));
  CHECK(has(testing::run_on_terminal({program}).out, "\x1b["));
  CHECK_FALSE(has(testing::run_on_terminal({program}, {{"NO_COLOR", "1"}}).out, "\x1b["));
}

TEST_CASE("exercises: the first line of a file and the README's table have number and title") {
  std::ifstream readme(source_root / "examples/exercises/README.md");
  REQUIRE(readme.good());
  std::vector<std::string> listed;
  for (std::string line; std::getline(readme, line);)
    if (line.rfind("| ", 0) == 0 && line[2] >= '1' && line[2] <= '9') listed.push_back(line);
  const auto rows = overview("exercises");
  CHECK(listed.size() == rows.size());
  for (std::size_t i = 0; i < rows.size() && i < listed.size(); ++i) {
    const Line& row = rows[i];
    std::ifstream file(source_root / "examples/exercises" / row.file);
    std::string first;
    std::getline(file, first);
    CHECK(first == "// Exercise " + row.number + ". " + row.title);
    const std::string page = run_program("exercises", {row.number}).out;
    const std::string title_line = lines_of(page)[0];
    const std::size_t bracket = title_line.rfind('(');
    const std::string source = title_line.substr(bracket + 1, title_line.size() - bracket - 2);
    INFO(listed[i]);
    CHECK(listed[i].rfind(
              "| " + row.number + " | [" + row.title + "](" + row.file + ") | " + source + " | ",
              0) == 0);
    CHECK(fs::exists(source_root / "examples/exercises/graders" / row.file));
    CHECK(fs::exists(source_root / "tests/examples/exercises/solutions" / row.file));
  }
}

TEST_CASE("exercises: make passes the number and the hints on") {
  const Result one = testing::run({"make", "-n", "--no-print-directory", "-C", source_root.string(),
                                   "exercises", "N=3", "HINT=2", "BUILD=b"});
  CHECK(one.status == 0);
  CHECK(has(joined(one.out), "b/exercises 3 --hint 2 ||"));
  CHECK(has(joined(one.out), "An answer does not compile: look at the first 'error:' above."));
  const Result all = testing::run({"make", "-n", "--no-print-directory", "-C", source_root.string(),
                                   "exercises", "BUILD=b", "N=", "HINT="});
  CHECK(all.status == 0);
  CHECK(has(joined(all.out), "b/exercises ||"));
}

}  // namespace exercise_tests
