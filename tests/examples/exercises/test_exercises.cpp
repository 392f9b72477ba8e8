// The exercises: each is open with the blanks of the repository and solved with its solution. What
// they say to each wrong answer is in tests/command/exercises.txt.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <regex>
#include <sstream>
#include <string>
#include <vector>

#include "examples/support/text.h"
#include "tests/support/catch.h"
#include "tests/support/process.h"

namespace exercise_tests {
namespace {

namespace fs = std::filesystem;
using testing::Result;

const fs::path root = FLEDGE_SOURCE_DIR, folder = root / "examples/exercises";

/// build/exercises has the blanks, build/exercises_given the solutions.
Result run_program(const std::string& program, const std::vector<std::string>& arguments = {},
                   const testing::Environment& environment = {{"LC_ALL", "C"}}) {
  std::vector<std::string> argv{(fs::path(FLEDGE_BINARY_DIR) / program).string()};
  argv.insert(argv.end(), arguments.begin(), arguments.end());
  return testing::run(argv, environment);
}

std::vector<std::string> lines_of(std::istream&& stream) {
  std::vector<std::string> lines;
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

std::string text_of(const fs::path& path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

/// The text with one blank between two words.
std::string joined(const std::string& text) {
  return std::regex_replace(text, std::regex("\\s+"), " ");
}

bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

/// "01_forget_birds", …: the exercises in their order.
std::vector<std::string> names() {
  std::vector<std::string> all;
  for (const auto& entry : fs::directory_iterator(folder))
    if (entry.path().extension() == ".cpp" && entry.path().filename() != "main.cpp")
      all.push_back(entry.path().stem().string());
  std::sort(all.begin(), all.end());
  return all;
}

/// At most 80 columns of ASCII, without a negative zero.
void check_layout(const std::string& line) {
  INFO(line);
  CHECK(support::display_width(line) <= 80);
  CHECK(std::all_of(line.begin(), line.end(), [](char c) { return c >= ' ' && c <= '~'; }));
  CHECK_FALSE(std::regex_search(line, std::regex("-0(\\.0+)?(?![.0-9])")));
}

}  // namespace

TEST_CASE("exercises: the blanks are open and show no claim; hints come on request") {
  const std::string overview = run_program("exercises").out;
  REQUIRE(names().size() == 17);
  for (std::size_t i = 0; i < names().size(); ++i) {
    const std::string number = std::to_string(i + 1), file = names()[i] + ".cpp";
    INFO(file);
    // An answer in place of the blanks is a reader's own: .ci/run keeps it out of the repository.
    if (!has(text_of(folder / file), "FILL")) continue;
    CHECK(std::regex_search(overview, std::regex("\n +" + number + " .* open +" + file + "\n")));
    const Result one = run_program("exercises", {number});
    CHECK(one.status == 1);
    CHECK(one.err.empty());
    CHECK(has(one.out, "   open   your "));
    CHECK(has(one.out, "Replace FILL in examples/exercises/" + file + ".\nThen type:     make "));
    CHECK_FALSE(std::regex_search(one.out, std::regex("   ok |FALSE|Hint")));
    const std::string all = run_program("exercises", {number, "--hint", "9"}).out;
    CHECK(has(all, "   Hint 1 of "));
    CHECK(has(all, "That was the last hint."));
    for (const std::string& text : {one.out, all})
      for (const std::string& line : lines_of(std::istringstream(text))) check_layout(line);
  }
}

TEST_CASE("exercises: tests/command/exercises.txt has each solution and each mistake") {
  const std::string said = text_of(root / "tests/command/exercises.txt"), words = joined(said);
  for (std::size_t number = 1; number <= names().size(); ++number)
    for (const char* state : {": solved.", ": not yet."})
      CHECK(has(words, "Exercise " + std::to_string(number) + state));
  // The beginnings of what is said to mistakes, which have keys with a point: "zero.rounded: Nearly".
  int mistakes = 0;
  for (const std::string& line : lines_of(std::ifstream(folder / "graders/sentences.txt"))) {
    std::smatch found;
    if (!std::regex_search(line, found, std::regex("^[\\w ]+\\.[\\w ]+: ([^{]{8,})"))) continue;
    INFO(line);
    CHECK(has(words, joined(found[1])));
    ++mistakes;
  }
  CHECK(mistakes > 40);
  std::string given;
  for (const std::string& line : lines_of(std::istringstream(said))) {
    if (line[0] == '#' || line[0] == '$') {
      given = (line[0] == '$' && given[0] == '#' ? given : "") + line;
      continue;
    }
    check_layout(line);
    INFO(given << "\n" << line);  // an infinity or a NaN of printf only where one was given
    CHECK((!std::regex_search(line, std::regex("\\b(inf|nan)\\b")) || has(given, "inf")));
  }
}

TEST_CASE("exercises: files, READMEs and make have the same numbers and titles") {
  const std::string readme = text_of(folder / "README.md");
  for (std::size_t i = 0; i < names().size(); ++i) {
    const std::string number = std::to_string(i + 1), name = names()[i];
    const std::string title = lines_of(std::ifstream(folder / (name + ".txt"))).at(0);
    INFO(name);
    CHECK(text_of(folder / (name + ".cpp")).starts_with("// Exercise " + number + ". " + title));
    const std::string heading = "Exercise " + number + ". " + title + "   (";
    const std::string page = run_program("exercises", {number}).out;
    REQUIRE(page.starts_with(heading));
    const std::string source = page.substr(heading.size(), page.find(")\n") - heading.size());
    CHECK(
        has(readme, "\n| " + number + " | [" + title + "](" + name + ".txt) | " + source + " | "));
  }
  for (const auto& [words, command] : {std::pair{"N=3", "b/exercises 3 ||"},
                                       {"N=3 HINT=2", "b/exercises 3 --hint 2 ||"},
                                       {"N=", "b/exercises ||"}}) {
    const Result make = testing::run({"sh", "-c",
                                      "make -n --no-print-directory -C '" + root.string() +
                                          "' exercises HINT= BUILD=b " + words});
    CHECK(make.status == 0);
    CHECK(has(joined(make.out), command));
  }
}

TEST_CASE("exercises: colours on a terminal, unless they are not wished") {
  const std::string program = (fs::path(FLEDGE_BINARY_DIR) / "exercises_given").string();
  CHECK(has(run_program("exercises_given", {}, {{"FORCE_COLOR", "1"}}).out, "\x1b["));
  CHECK(has(testing::run_on_terminal({program}).out, "\x1b["));
  CHECK_FALSE(has(testing::run_on_terminal({program}, {{"NO_COLOR", "1"}}).out, "\x1b["));
}

}  // namespace exercise_tests
