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
#include "tests/support/sanitized.h"
#include "tests/support/skipped.h"

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
    if (line.rfind("   build/lessons/", 0) == 0)
      commands.push_back(
          (lesson_programs / line.substr(std::string("   build/lessons/").size())).string());
  return commands;
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

TEST_CASE("lessons: each opens with a question and a prediction") {
  if (sanitized) {
    testing::report_skipped("lessons are not built under sanitizers");
    return;
  }
  for (const std::string& lesson : lessons_of_the_course()) {
    INFO(lesson);
    const Lines output = output_of(lesson);
    REQUIRE(output.size() > 10);
    CHECK(output[2].rfind("   question: ", 0) == 0);
    CHECK(texts_behind("   predict:  ", output).size() == 1);
  }
}

TEST_CASE("lessons: each names places in the sources, and they exist") {
  if (sanitized) {
    testing::report_skipped("lessons are not built under sanitizers");
    return;
  }
  for (const std::string& lesson : lessons_of_the_course()) {
    INFO(lesson);
    const Lines output = output_of(lesson), lines = lines_behind("Read in the code", output);
    std::size_t places = 0;
    for (const std::string& line : lines) {
      const std::size_t comma = line.find(", "), colon = line.find(':', comma);
      if (line.rfind("   ", 0) != 0 || line[3] == ' ' || comma == line.npos) continue;
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
  if (sanitized) {
    testing::report_skipped("lessons are not built under sanitizers");
    return;
  }
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
      for (const std::string& line : printed) CHECK(support::display_width(line) <= 80);
      ++commands;
    }
  CHECK(commands >= 20);
}

TEST_CASE("lessons: the same picture has the same bytes, and the comparison can fail") {
  if (sanitized) {
    testing::report_skipped("lessons are not built under sanitizers");
    return;
  }
  CHECK(same_picture("<a x=\"1.5\" />", "<a x=\"2.5\" />"));
  CHECK_FALSE(same_picture("<a x=\"1.5\" />", "<a x=\"7\" />"));
  CHECK_FALSE(same_picture("<a x=\"1.5\" />", "<a y=\"1.5\" />"));
  CHECK_FALSE(same_picture("<a />", "<a /> <b />"));
  std::size_t pictures = 0;
  for (const std::string& lesson : lessons_of_the_course()) {
    const Lines commands = commands_of(lesson);
    if (std::none_of(commands.begin(), commands.end(),
                     [](const std::string& c) { return c.ends_with(" -o picture.svg"); }))
      continue;
    INFO(lesson);
    const std::string picture = picture_of(lesson);
    CHECK(picture.rfind("<svg", 0) == 0);
    CHECK(picture == picture_of(lesson));
    ++pictures;
  }
  CHECK(pictures >= 10);
}

TEST_CASE("lessons: the pictures of the READMEs are what the lessons draw") {
  if (sanitized) {
    testing::report_skipped("lessons are not built under sanitizers");
    return;
  }
  const fs::path folder = source_root / "examples/pictures";
  std::size_t pictures = 0;
  for (const auto& entry : fs::recursive_directory_iterator(folder)) {
    if (!entry.is_regular_file()) continue;
    const fs::path name = fs::relative(entry.path(), folder).replace_extension();
    INFO(name);
    CHECK(same_picture(joined(lines_in(entry.path())), picture_of(name.string())));
    const std::string readme = joined(lines_in(source_root / "examples/README.md"));
    CHECK(readme.find("(pictures/" + name.string() + ".svg)") != std::string::npos);
    ++pictures;
  }
  CHECK(pictures >= 4);
}
