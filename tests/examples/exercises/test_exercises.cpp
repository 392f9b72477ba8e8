// The exercises: each is open with the blanks of the repository and solved with its solution. What
// they say to each wrong answer is in tests/command/exercises.txt.
#include <algorithm>
#include <filesystem>
#include <regex>
#include <string>
#include <vector>

#include "examples/support/text.h"
#include "tests/examples/lessons/course.h"
#include "tests/support/catch.h"
#include "tests/support/process.h"

namespace exercise_tests {
namespace {

using namespace testing;

const std::filesystem::path folder = source_root / "examples/exercises";

/// build/exercises has the blanks, build/exercises_given the solutions.
std::string program(const std::string& name) {
  return (std::filesystem::path(FLEDGE_BINARY_DIR) / name).string();
}

bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

/// "01_forget_birds", …: the exercises in their order.
Lines names() {
  Lines all;
  for (const auto& entry : std::filesystem::directory_iterator(folder))
    if (entry.path().extension() == ".cpp" && entry.path().filename() != "main.cpp")
      all.push_back(entry.path().stem().string());
  std::sort(all.begin(), all.end());
  return all;
}

/// At most 80 columns of ASCII, without a negative zero.
void check_layout(const Lines& lines) {
  for (const std::string& line : lines) {
    INFO(line);
    CHECK(support::display_width(line) <= 80);
    CHECK(std::all_of(line.begin(), line.end(), [](char c) { return c >= ' ' && c <= '~'; }));
    CHECK_FALSE(std::regex_search(line, std::regex("-0(\\.0+)?(?![.0-9])")));
  }
}

}  // namespace

TEST_CASE("exercises: the blanks are open and show no claim; hints come on request") {
  const std::string overview = run({program("exercises")}, {{"LC_ALL", "C"}}).out;
  REQUIRE(names().size() == 17);
  for (std::size_t i = 0; i < names().size(); ++i) {
    const std::string number = std::to_string(i + 1), file = names()[i] + ".cpp";
    INFO(file);
    // An answer in place of the blanks is a reader's own: .ci/run keeps it out of the repository.
    if (!has(joined(lines_in(folder / file)), "FILL")) continue;
    CHECK(std::regex_search(overview, std::regex("\n *" + number + " .* open +" + file + "\n")));
    const Result one = run({program("exercises"), number}, {{"LC_ALL", "C"}});
    CHECK(one.status == 1);
    CHECK(one.err.empty());
    CHECK(has(one.out, "   open   your "));
    CHECK(has(one.out, "Replace FILL in examples/exercises/" + file + ".\nThen type:     make "));
    CHECK_FALSE(std::regex_search(one.out, std::regex("   ok |FALSE|Hint")));
    const Result all = run({program("exercises"), number, "--hint", "9"}, {{"LC_ALL", "C"}});
    CHECK(has(all.out, "   Hint 1 of "));
    CHECK(has(all.out, "That was the last hint."));
    check_layout(split_lines(one.out));
    check_layout(split_lines(all.out));
  }
}

TEST_CASE("exercises: tests/command/exercises.txt has each solution and each mistake") {
  const Lines said = lines_in(source_root / "tests/command/exercises.txt");
  const std::string words = joined(said);
  for (std::size_t number = 1; number <= names().size(); ++number)
    for (const char* state : {": solved.", ": not yet."})
      CHECK(has(words, "Exercise " + std::to_string(number) + state));
  // What is said to mistakes has keys with a point: "zero.rounded: Nearly". Here it begins so.
  int mistakes = 0;
  for (const std::string& line : lines_in(folder / "graders/sentences.txt")) {
    std::smatch found;
    if (!std::regex_search(line, found, std::regex("^[\\w ]+\\.[\\w ]+: ([^{]{8,})"))) continue;
    INFO(line);
    CHECK(has(words, joined({found[1]})));
    ++mistakes;
  }
  CHECK(mistakes > 40);
  std::string given;
  for (const std::string& line : said) {
    if (line[0] == '#' || line[0] == '$') {
      given = (line[0] == '$' && given[0] == '#' ? given : "") + line;
      continue;
    }
    if (line[0] != '!') check_layout({line});
    INFO(given << "\n" << line);  // an infinity or a NaN of printf only where one was given
    CHECK((!std::regex_search(line, std::regex("\\b(inf|nan)\\b")) || has(given, "inf")));
  }
}

TEST_CASE("exercises: files, READMEs and make have the same numbers and titles") {
  const Lines readme = lines_in(folder / "README.md");
  for (std::size_t i = 0; i < names().size(); ++i) {
    const std::string number = std::to_string(i + 1), name = names()[i];
    const std::string title = lines_in(folder / (name + ".txt")).at(0);
    INFO(name);
    CHECK(
        lines_in(folder / (name + ".cpp"))[0].starts_with("// Exercise " + number + ". " + title));
    const std::string page = run({program("exercises"), number}).out,
                      heading = "Exercise " + number + ". " + title + "   (";
    REQUIRE(page.starts_with(heading));
    const std::string source = page.substr(heading.size(), page.find(")\n") - heading.size());
    const std::string row =
        "| " + number + " | [" + title + "](" + name + ".txt) | " + source + " |";
    CHECK(std::any_of(readme.begin(), readme.end(),
                      [&](const std::string& line) { return line.starts_with(row); }));
  }
  for (const auto& [words, command] : {std::pair{"N=3 HINT=", "b/exercises 3 ||"},
                                       {"N=3 HINT=2", "b/exercises 3 --hint 2 ||"},
                                       {"N= HINT=", "b/exercises ||"}}) {
    const std::string make = "make -n -C '" + source_root.string() + "' exercises BUILD=b ";
    CHECK(has(joined(split_lines(run({"sh", "-c", make + words}).out)), command));
  }
}

TEST_CASE("exercises: colours on a terminal, unless they are not wished") {
  CHECK(has(run_on_terminal({program("exercises_given")}).out, "\x1b["));
  CHECK_FALSE(has(run_on_terminal({program("exercises_given")}, {{"NO_COLOR", "1"}}).out, "\x1b["));
}

}  // namespace exercise_tests
