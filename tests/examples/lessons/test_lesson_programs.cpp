// Each lesson opens with a question and a prediction, and ends with places in the sources that
// exist and with commands that run. Pictures of the READMEs are those that the lessons write.
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <sstream>
#include <string>

#include "examples/support/text.h"
#include "tests/examples/lessons/course.h"
#include "tests/support/catch.h"
#include "tests/support/folder.h"
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

/// The picture of a lesson, as the text of a file.
std::string picture_of(const std::string& lesson) {
  const testing::Folder folder;
  const std::string path = folder / "picture.svg";
  const Result result = run({(lesson_programs / lesson).string(), "-o", path});
  CHECK(result.status == 0);
  CHECK(result.out.empty());
  return joined(lines_in(path));
}

// Numbers are pixels. Processors round differently, and a path may end a little elsewhere.
bool same_picture(const std::string& a, const std::string& b) {
  constexpr double pixels = 2;
  std::istringstream left(a), right(b);
  std::string word, other;
  while (left >> word) {
    if (!(right >> other)) return false;
    if (word == other) continue;
    const std::size_t at = word.find_first_of("0123456789-"),
                      from = other.find_first_of("0123456789-");
    if (at == word.npos || from == other.npos || word.substr(0, at) != other.substr(0, from))
      return false;
    char *end = nullptr, *other_end = nullptr;
    const double number = std::strtod(word.c_str() + at, &end);
    const double other_number = std::strtod(other.c_str() + from, &other_end);
    if (std::abs(number - other_number) > pixels || std::string(end) != other_end) return false;
  }
  return !(right >> other);
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
      if (command.find(" -o ") != command.npos) continue;
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

TEST_CASE("lessons: the same picture has the same bytes, and the READMEs have what is drawn") {
  CHECK(same_picture("<a x=\"1.5\" />", "<a x=\"2.5\" />"));
  CHECK_FALSE(same_picture("<a x=\"1.5\" />", "<a x=\"7\" />"));
  CHECK_FALSE(same_picture("<a x=\"1.5\" />", "<a y=\"1.5\" />"));
  CHECK_FALSE(same_picture("<a />", "<a /> <b />"));
  const fs::path folder = source_root / "examples/pictures";
  const std::string readme = joined(lines_in(source_root / "examples/README.md"));
  std::size_t drawn = 0, shown = 0, stored = 0;
  for (const std::string& lesson : lessons_of_the_course()) {
    const Lines commands = commands_of(lesson);
    if (std::none_of(commands.begin(), commands.end(),
                     [](const std::string& c) { return c.ends_with(" -o picture.svg"); }))
      continue;
    INFO(lesson);
    const std::string picture = picture_of(lesson);
    CHECK(picture.starts_with("<svg"));
    CHECK(picture == picture_of(lesson));
    ++drawn;
    if (!fs::exists(folder / (lesson + ".svg"))) continue;
    CHECK(same_picture(joined(lines_in(folder / (lesson + ".svg"))), picture));
    CHECK(readme.find("(pictures/" + lesson + ".svg)") != std::string::npos);
    ++shown;
  }
  for (const auto& entry : fs::recursive_directory_iterator(folder))
    stored += entry.is_regular_file() ? 1 : 0;
  CHECK(drawn >= 10);
  CHECK(shown == stored);
  CHECK(shown >= 4);
}
