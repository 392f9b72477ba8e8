// No line that a lesson prints is wider than 80 columns, with UTF-8 or without. The outputs with
// UTF-8 are those that the tests lessons/* have kept.
#include <algorithm>
#include <fstream>
#include <sstream>
#include <string>

#include "examples/support/text.h"
#include "tests/examples/lessons/course.h"
#include "tests/support/catch.h"
#include "tests/support/process.h"
#include "tests/support/sanitized.h"
#include "tests/support/skipped.h"

namespace {

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
    testing::report_skipped("lessons are not built under sanitizers");
    return;
  }
  for (const std::string& name : testing::lessons_of_the_course()) {
    std::ifstream output(testing::lesson_programs / (name + ".txt"), std::ios::binary);
    INFO(name);
    CHECK(lines_of_80_columns(output) > 5);
  }
  CHECK(testing::lessons_of_the_course().size() >= 26);
}

TEST_CASE("lessons: without UTF-8 tables, maps and curves are ASCII, in 80 columns") {
  if (testing::sanitized) {
    testing::report_skipped("lessons are not built under sanitizers");
    return;
  }
  for (const char* name :
       {"attention/03_one_head", "attention/08_what_can_be_raised", "attention/12_noisy_keys",
        "attention/13_residual_and_block", "engine/03_gradient_check"}) {
    INFO(name);
    const auto result =
        testing::run({(testing::lesson_programs / name).string()}, {{"LC_ALL", "C"}});
    CHECK(result.status == 0);
    CHECK(std::all_of(result.out.begin(), result.out.end(),
                      [](char c) { return c == '\n' || (c >= ' ' && c <= '~'); }));
    std::istringstream output(result.out);
    CHECK(lines_of_80_columns(output) > 20);
  }
}
