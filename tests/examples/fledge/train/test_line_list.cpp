// Lists of names and records are found; verses, prose and source code are not taken for lists.
#include "examples/fledge/train/line_list.h"

#include "examples/support/built_in_text.h"
#include "tests/examples/fledge/training.h"

using namespace testing;
using fledge::train::is_list_of_lines;

namespace {

/// This number of lines, each the text of make(its number).
template <class F>
std::string lines_made(int count, F make) {
  std::string text;
  for (int i = 0; i < count; ++i) text += make(i) + "\n";
  return text;
}

std::string project_file(const std::string& path) {
  return text_of(std::string(FLEDGE_SOURCE_DIR) + "/" + path);
}

const char* const verses =
    "Shall I compare thee to a summer's day?\nThou art more lovely and more temperate:\n"
    "Rough winds do shake the darling buds of May,\nAnd summer's lease hath all too short a date:\n"
    "Sometime too hot the eye of heaven shines,\nAnd often is his gold complexion dimm'd,\n"
    "And every fair from fair sometime declines,\nBy chance, or nature's changing course "
    "untrimm'd:\n";
const char* const short_verses =
    "Tyger Tyger, burning bright,\nIn the forests of the night;\nWhat immortal hand or eye,\n"
    "Could frame thy fearful symmetry?\n\nIn what distant deeps or skies,\nBurnt the fire of thine "
    "eyes?\nOn what wings dare he aspire?\nWhat the hand, dare seize the fire?\n\n";
const char* const chinese_verses =
    "床前明月光，\n疑是地上霜。\n舉頭望明月，\n低頭思故鄉。\n白日依山盡\n黃河入海流\n";

std::string repeated(const std::string& text, int times) {
  return lines_made(times, [&](int) { return text; });
}

}  // namespace

TEST_CASE("list of lines: names, words and records") {
  const auto number = [](int i) { return std::to_string(i); };
  CHECK(is_list_of_lines(lines_made(30, [&](int i) { return "anna" + number(i); })));
  CHECK(is_list_of_lines(lines_made(30, [&](int i) { return "Anna Maria Meyer " + number(i); })));
  CHECK(is_list_of_lines(lines_made(30, [&](int i) { return number(i) + ",Anna,59,Oslo"; })));
  CHECK(is_list_of_lines(lines_made(30, [](int i) {
    return "\xe7\x8e\x8b\xe5" + std::string(1, static_cast<char>(0x80 + i)) + "\x8f";
  })));
  CHECK(is_list_of_lines(lines_made(30, [&](int i) { return "anna" + number(i) + "\r"; })));
}

TEST_CASE("list of lines: verses, prose, source code, and the built-in text are none") {
  CHECK_FALSE(is_list_of_lines(repeated(verses, 20)));
  CHECK_FALSE(is_list_of_lines(repeated(short_verses, 20)));
  CHECK_FALSE(is_list_of_lines(repeated(chinese_verses, 20)));
  CHECK_FALSE(is_list_of_lines(support::built_in_text()));
  CHECK_FALSE(is_list_of_lines(small_text()));
  for (const char* path : {"README.md", "CMakeLists.txt", "nn/text/tokenizer.cpp",
                           "examples/fledge/train/line_list.cpp", "engine/ops.h"}) {
    CAPTURE(path);
    REQUIRE(project_file(path).size() > 500);
    CHECK_FALSE(is_list_of_lines(project_file(path)));
  }
}

TEST_CASE("list of lines: few lines, and the same few again and again, are none") {
  CHECK_FALSE(is_list_of_lines(""));
  CHECK_FALSE(is_list_of_lines(lines_made(19, [](int i) { return "anna" + std::to_string(i); })));
  CHECK_FALSE(
      is_list_of_lines(lines_made(90, [](int i) { return "anna" + std::to_string(i % 9); })));
}

TEST_CASE("fledge train: a list of names gets the hint at --lines, once it is not given") {
  const Desk desk;
  write_text(desk / "names.txt",
             lines_made(200, [](int i) { return "name" + std::to_string(i * i); }));
  const std::string hint = "add --lines.\n";
  CHECK_THAT(trained({desk / "names.txt"}).err, ContainsSubstring(hint));
  CHECK_THAT(trained({desk / "names.txt", "--lines"}).err, !ContainsSubstring(hint));
  CHECK_THAT(trained({desk.poems()}).err, !ContainsSubstring(hint));
}
