// The exercises: each is open with the blanks of the repository and solved with its solution. What
// they say to each wrong answer is in tests/command/exercises.txt.
#include <regex>

#include "tests/examples/lessons/course.h"
#include "tests/support/process.h"

namespace exercise_tests {
namespace {

using namespace testing;

const std::filesystem::path folder = source_root / "examples/exercises";

std::string program(const char* name) { return std::string(FLEDGE_BINARY_DIR "/") + name; }

/// build/exercises has the blanks, build/exercises_given the solutions.
Result says(std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), program("exercises"));
  return run(arguments, {{"LC_ALL", "C"}});
}

/// "01_forget_birds", …: the exercises in their order.
Lines names() {
  std::set<std::string> all;
  for (const auto& entry : std::filesystem::directory_iterator(folder))
    if (entry.path().extension() == ".cpp" && entry.path().filename() != "main.cpp")
      all.insert(entry.path().stem().string());
  return {all.begin(), all.end()};
}

/// At most 80 columns of ASCII, without a negative zero.
void check_printed(const Lines& lines) {
  check_layout(lines, true);
  for (const std::string& line : lines)
    CHECK_FALSE(std::regex_search(line, std::regex("-0(\\.0+)?(?![.0-9])")));
}

}  // namespace

TEST_CASE("exercises: the blanks are open, hints come on request, all pages have one title") {
  const std::string overview = says({}).out,
                    said = text_of(source_root / "tests/command/exercises.txt"),
                    solved = said.substr(0, said.find("\n$ exercises_given 1 "));
  const Lines readme = lines_in(folder / "README.md");
  REQUIRE(names().size() == 24);
  for (std::size_t i = 0; i < names().size(); ++i) {
    const std::string number = std::to_string(i + 1), name = names()[i], file = name + ".cpp";
    INFO(file);
    const Result one = says({number}), all = says({number, "--hint", "9"});
    const std::string title = lines_in(folder / (name + ".txt")).at(0),
                      heading = "Exercise " + number + ". " + title + "   (";
    CHECK(lines_in(folder / file)[0].starts_with("// Exercise " + number + ". " + title));
    REQUIRE(one.out.starts_with(heading));
    const std::string source = one.out.substr(heading.size(), one.out.find(")\n") - heading.size());
    const std::string row =
        "| " + number + " | [" + title + "](" + name + ".txt) | " + source + " |";
    CHECK(std::any_of(readme.begin(), readme.end(),
                      [&](const std::string& line) { return line.starts_with(row); }));
    CHECK(std::regex_search(solved, std::regex("\n *" + number + " .* solved +" + file + "\n")));
    CHECK(has(all.out, "   Hint 1 of "));
    CHECK(has(all.out, "That was the last hint."));
    check_printed(lines_of(all.out));
    // An answer in place of the blanks is a reader's own: .ci/run keeps it out of the repository.
    if (!has(joined(lines_in(folder / file)), "FILL")) continue;
    CHECK(std::regex_search(overview, std::regex("\n *" + number + " .* open +" + file + "\n")));
    CHECK(one.status == 1);
    CHECK(one.err.empty());
    CHECK(has(one.out, "   open   your "));
    CHECK(has(one.out, "Replace FILL in examples/exercises/" + file + ".\nThen type:     make "));
    CHECK_FALSE(std::regex_search(one.out, std::regex("   ok |FALSE|Hint")));
  }
  CHECK(has(run_on_terminal({program("exercises_given"), "1"}).out, "\x1b["));
}

TEST_CASE("exercises: the transcripts have each solution and each mistake") {
  Lines said = lines_in(source_root / "tests/command/exercises.txt");
  for (const std::string& line : lines_in(source_root / "tests/command/smallest.txt"))
    said.push_back(line);
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
    if (line[0] != '!') check_printed({line});
    INFO(given << "\n" << line);  // an infinity or a NaN of printf only where one was given
    CHECK((!std::regex_search(line, std::regex("\\b(inf|nan)\\b")) || has(given, "inf")));
  }
}

TEST_CASE("exercises: make passes the number and the hints on") {
  for (const auto& [words, command] : {std::pair{"N=3 HINT=", "b/exercises 3 ||"},
                                       {"N=3 HINT=2", "b/exercises 3 --hint 2 ||"},
                                       {"N= HINT=", "b/exercises ||"}}) {
    const std::string make = "make -n -C '" + source_root.string() + "' exercises BUILD=b ";
    CHECK(has(joined(lines_of(run({"sh", "-c", make + words}).out)), command));
  }
}

}  // namespace exercise_tests
