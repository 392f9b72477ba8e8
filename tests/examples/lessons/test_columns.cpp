// No line that a lesson prints is wider than 80 columns, with UTF-8 or without. The outputs with
// UTF-8 are those that the tests lessons/* have kept.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

#include "examples/support/text.h"
#include "tests/support/catch.h"
#include "tests/support/process.h"
#include "tests/support/sanitized.h"

namespace {

namespace fs = std::filesystem;

const fs::path lesson_outputs = fs::path(FLEDGE_BINARY_DIR) / "lessons";

int lines_of_80_columns(std::istream& output) {
  int count = 0;
  for (std::string line; std::getline(output, line); ++count) {
    INFO(line);
    CHECK(support::display_width(line) <= 80);
  }
  return count;
}

}  // namespace

TEST_CASE("lessons: no line is wider than 80 columns") {
  if (testing::sanitized) {
    SUCCEED("lessons are not built under sanitizers");
    return;
  }
  int lessons = 0;
  for (const auto& entry :
       fs::directory_iterator(fs::path(FLEDGE_SOURCE_DIR) / "examples/lessons")) {
    const std::string name = entry.path().stem().string();
    if (name == "lesson") continue;
    std::ifstream output(lesson_outputs / (name + ".txt"), std::ios::binary);
    INFO(name);
    CHECK(lines_of_80_columns(output) > 5);
    ++lessons;
  }
  CHECK(lessons >= 19);
}

TEST_CASE("lessons: without UTF-8 tables, maps and curves are ASCII, in 80 columns") {
  if (testing::sanitized) {
    SUCCEED("lessons are not built under sanitizers");
    return;
  }
  for (const char* name :
       {"03_gradient_check", "05_what_can_be_raised", "06_attention_block", "10_noisy_keys"}) {
    INFO(name);
    const auto result = testing::run({(lesson_outputs / name).string()}, {{"LC_ALL", "C"}});
    CHECK(result.status == 0);
    CHECK(std::all_of(result.out.begin(), result.out.end(),
                      [](char c) { return c == '\n' || (c >= ' ' && c <= '~'); }));
    std::istringstream output(result.out);
    CHECK(lines_of_80_columns(output) > 20);
  }
}
