#include "examples/lessons/lesson_text.h"

#include <sstream>

#include "engine/base/errors.h"
#include "tests/support/catch.h"

using namespace support;

namespace {

constexpr const char* opening = "# Sums\n\n**Question.** Why?\n\n**Predict.** Yes.\n\n";
constexpr const char* reading_part = "\n## Read in the code\n\n- `a/b.h`, `f`: what it does\n";
constexpr const char* two_terms =
    "| term | meaning | by |\n| --- | --- | --- |\n| mean | The sum, divided by n. | x |\n";

// What is printed of this text when `body` gives the values.
std::string printed(const std::string& text, const std::function<void(LessonText&)>& body) {
  std::string out;
  Lesson lesson({}, [&](const std::string& line) { out += line + "\n"; });
  LessonText markdown("attention/00_sums", opening + text + reading_part, two_terms, lesson);
  body(markdown);
  markdown.finish();
  return out;
}

void without_values(LessonText&) {}

std::string refusal(const std::string& text, const std::function<void(LessonText&)>& body) {
  try {
    printed(text, body);
  } catch (const fledge::ValueError& error) {
    return error.what();
  }
  return "";
}

}  // namespace

TEST_CASE("lesson text: each kind of block") {
  const std::string text =
      "## Of one\n\nA sentence\nof two lines, {{a name}}.\n\n**mean**\n\n    1 + 1 = {{a name}}\n"
      "    - 2\n\n{{table}}\n\n- [first] it is {{a name}},\n  and\n- [second] 3\n- [third] seeds\n\n"
      "> 000: it is 3\n> comes out: it is {{a name}}\n> why: one was counted twice\n\n## Of two\n\nEnd.";
  CHECK(
      printed(text,
              [](LessonText& to) {
                to.claim("first", true);
                to.set("a name", "%d", 2);
                to.set("table", "| 1 |\n| 2 |");
                to.claim_near("second", 3, 3, 0);
                to.claim_rate("third", 4, 5, 3);
              }) ==
      "1. Of one\n\n   A sentence of two lines, 2.\n\n   new word: mean. The sum, divided by n.\n\n"
      "      1 + 1 = 2\n      - 2\n\n| 1 |\n| 2 |\n\n   ok     it is 2, and\n   ok     3: 3\n"
      "   ok     4 of 5 seeds (at least 3): seeds\n\n   slip in note 000\n"
      "      says        it is 3\n      comes out   it is 2\n      why         one was counted twice\n\n"
      "2. Of two\n\n   End.\n");
}

TEST_CASE("lesson text: it is printed as far as its values are known") {
  std::string out;
  Lesson lesson({}, [&](const std::string& line) { out += line + "\n"; });
  LessonText text("x", opening + std::string("## P\n\n{{a}}\n\n{{b}}\n") + reading_part, two_terms,
                  lesson);
  CHECK(text.title() == "Sums");
  CHECK(text.question() == "Why?");
  CHECK(text.prediction() == "Yes.");
  REQUIRE(text.reading().size() == 1);
  CHECK(text.reading()[0].file == "a/b.h");
  CHECK(text.reading()[0].name == "f");
  CHECK(text.reading()[0].what == "what it does");
  text.set("b", "second");
  CHECK(out == "1. P\n\n");
  text.set("a", "first");
  CHECK(out == "1. P\n\nfirst\n\nsecond\n");
}

TEST_CASE("lesson text: names and values that do not fit are named") {
  const auto names = [](const std::string& text, const std::function<void(LessonText&)>& body,
                        const std::string& word) {
    INFO(word);
    const std::string message = refusal(text, body);
    CHECK(message.starts_with("attention/00_sums.md: "));
    CHECK(message.find(word) != std::string::npos);
  };
  names("{{a}} and b", without_values, "{{a}}");
  names("- [a] b", without_values, "[a]");
  names(
      "b", [](LessonText& to) { to.set("a", "1"); }, "{{a}}");
  names(
      "b", [](LessonText& to) { to.claim("a", true); }, "[a]");
  names(
      "- [a] b", [](LessonText& to) { to.set("a", "1"); }, "[a]");
  names(
      "{{a}}", [](LessonText& to) { to.set("a", "1"), to.set("a", "1"); }, "{{a}}");
  names(
      "- [a] b", [](LessonText& to) { to.claim("a", true), to.claim("a", true); }, "[a]");
  names("**median**", without_values, "median");
  for (const char* block : {"### deeper", "| a | b |", "```", "- [a b", "> 000: alone"})
    names(block, without_values,
          std::string(block).substr(block[0] == '-' || block[0] == '>' ? 2 : 0, 3));
  names("a\n\n## Read in the code\n\n- engine/ops.h: no name", without_values, "engine/ops.h");
  Lesson lesson;
  CHECK_THROWS_AS(LessonText("x", "# Title\n\nNo question.\n", two_terms, lesson),
                  fledge::ValueError);
}
