// Each lesson opens with a question and a prediction, and ends with places in the sources that
// exist and with commands that run.
#include <filesystem>
#include <sstream>
#include <string>

#include "examples/support/text.h"
#include "tests/examples/lessons/course.h"
#include "tests/support/catch.h"
#include "tests/support/process.h"

using namespace testing;
namespace fs = std::filesystem;

namespace {

/// The lines of the output behind this title, up to an empty line.
Lines lines_behind(const std::string& title, const Lines& output) {
  const auto begin = std::find(output.begin(), output.end(), title);
  if (begin == output.end()) return {};
  return {begin + 1, std::find(begin + 1, output.end(), "")};
}

/// The commands under "Try": "build/lessons/attention/04_softmax --d 64". They are for a shell.
Lines commands_of(const std::string& lesson) {
  Lines commands;
  for (const std::string& line : lines_behind("Try", output_of(lesson)))
    if (line.starts_with("   build/lessons/"))
      commands.push_back(
          (lesson_programs / line.substr(std::string("   build/lessons/").size())).string());
  return commands;
}

void check_width(const std::string& line) {
  INFO(line);
  CHECK(support::display_width(line) <= 80);
}

}  // namespace

TEST_CASE("lessons: a question, a prediction and places in the sources that exist, in 80 columns") {
  CHECK(lessons_of_the_course().size() >= 26);
  for (const std::string& lesson : lessons_of_the_course()) {
    INFO(lesson);
    const Lines output = output_of(lesson);
    REQUIRE(output.size() > 10);
    for (const std::string& line : output) check_width(line);
    CHECK(output[2].starts_with("   question: "));
    CHECK(texts_behind("   predict:  ", output).size() == 1);
    std::size_t places = 0;
    for (const std::string& line : lines_behind("Read in the code", output)) {
      const std::size_t comma = line.find(", "), colon = line.find(':', comma);
      if (!line.starts_with("   ") || line[3] == ' ' || comma == line.npos) continue;
      const std::string file = line.substr(3, comma - 3);
      const std::string name = line.substr(comma + 2, colon - comma - 2);
      INFO(file << ": " << name);
      REQUIRE(fs::exists(source_root / file));
      CHECK(joined(lines_in(source_root / file)).find(name) != std::string::npos);
      ++places;
    }
    CHECK(places > 0);
  }
}

TEST_CASE("lessons: what they say to try runs, in 80 columns") {
  std::size_t commands = 0;
  for (const std::string& lesson : lessons_of_the_course())
    for (const std::string& command : commands_of(lesson)) {
      INFO(command);
      const Result result = run({"/bin/sh", "-c", command}, {{"LC_ALL", "C.UTF-8"}});
      CHECK(result.status == 0);
      CHECK(result.err.empty());
      const Lines printed = split_lines(result.out);
      CHECK(printed.size() >= 2);
      for (const std::string& line : printed) check_width(line);
      ++commands;
    }
  CHECK(commands >= 20);
}

TEST_CASE("lessons: without UTF-8 tables, maps and curves are ASCII, in 80 columns") {
  for (const char* name :
       {"attention/03_one_head", "attention/08_what_can_be_raised", "attention/12_noisy_keys",
        "attention/13_residual_and_block", "engine/03_gradient_check"}) {
    INFO(name);
    const Result result = run({(lesson_programs / name).string()}, {{"LC_ALL", "C"}});
    CHECK(result.status == 0);
    CHECK(split_lines(result.out).size() > 20);
    for (const std::string& line : split_lines(result.out)) {
      check_width(line);
      CHECK(std::all_of(line.begin(), line.end(), [](char c) { return c >= ' ' && c <= '~'; }));
    }
  }
}

TEST_CASE("lessons: each picture that is stored is shown in the README of the course") {
  const std::string readme = joined(lines_in(source_root / "examples/README.md"));
  for (const auto& entry : fs::recursive_directory_iterator(source_root / "examples/pictures"))
    if (entry.is_regular_file()) {
      INFO(entry.path());
      const std::string path = entry.path().lexically_relative(source_root / "examples");
      CHECK(readme.find("(" + path + ")") != std::string::npos);
    }
}
