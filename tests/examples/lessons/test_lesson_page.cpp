#include "examples/lessons/lesson_page.h"

#include <cstdio>
#include <filesystem>
#include <fstream>

#include "tests/examples/lessons/course.h"
#include "tests/support/catch.h"
#include "tests/support/folder.h"
#include "tests/support/process.h"

using namespace support;
using testing::Result;

namespace {

constexpr const char* test_markdown =
    "# A test\n\n**Question.** Is one less\nthan two?\n\n**Predict.** Write down yes or no.\n\n"
    "- [less] 1 < {{two}}\n\n## Read in the code\n\n- `engine/ops.h`, `softmax`: a catalogue\n";

// A folder of lessons with one text, and the glossary above it.
std::string lessons_folder(const testing::Folder& folder, const std::string& text) {
  std::filesystem::create_directories(folder / "lessons/attention");
  std::ofstream(folder / "lessons/attention/00_test.md") << text;
  std::ofstream(folder / "GLOSSARY.md")
      << "| term | meaning | by |\n| mean | The sum by n. | x |\n";
  return folder / "lessons";
}

LessonPage test_page() {
  return {.name = "attention/00_test",
          .body =
              [](LessonText& to) {
                to.claim("less", true);
                to.set("two", "2");
              },
          .plays = {{.option = "--beta",
                     .value = "3",
                     .help = "doubles a number",
                     .limits = {0, 10},
                     .with_number = [](Lesson& to, double x) { to.say(formatted("%g", 2 * x)); }},
                    {.option = "--sentence",
                     .value = "birds walk",
                     .help = "repeats a sentence",
                     .with_text = [](Lesson& to, const std::string& text) { to.say(text); }}},
          .picture = [] { return Svg(10, 20); }};
}

Result run_page(std::vector<const char*> arguments, LessonPage page = test_page(),
                const std::string& text = test_markdown) {
  const testing::Folder folder;
  page.folder = lessons_folder(folder, text);
  arguments.insert(arguments.begin(), "00_test");
  return testing::run_here(
      [&] { return run_lesson(static_cast<int>(arguments.size()), arguments.data(), page); });
}

}  // namespace

TEST_CASE("lesson page: question and prediction, the parts, what to read and to try, a verdict") {
  const Result result = run_page({});
  CHECK(result.status == 0);
  CHECK(result.out ==
        "A test\n\n   question: Is one less than two?\n   predict:  Write down yes or no.\n\n"
        "   ok     1 < 2\n\nRead in the code\n   engine/ops.h, softmax: a catalogue\n\nTry\n"
        "   build/lessons/attention/00_test --beta 3\n      doubles a number\n"
        "   build/lessons/attention/00_test --sentence 'birds walk'\n      repeats a sentence\n"
        "   build/lessons/attention/00_test -o picture.svg\n      writes the picture\n\n"
        "attention/00_test: 1 claim holds\n");
}

TEST_CASE("lesson page: one false claim, or none at all, ends it with 1") {
  LessonPage page = test_page();
  page.body = [](LessonText& to) {
    to.claim("less", true);
    to.claim("more", false);
  };
  const std::string rest = "\n## Read in the code\n\n- `engine/ops.h`, `softmax`: a catalogue\n";
  const std::string head = "# A test\n\n**Question.** Why?\n\n**Predict.** Yes.\n\n";
  Result result = run_page({}, page, head + "- [less] true\n- [more] 2 < 1\n" + rest);
  CHECK(result.status == 1);
  CHECK(result.out.ends_with("\nattention/00_test: 1 of 2 claims FALSE\n"));
  page.body = [](LessonText&) {};
  result = run_page({}, page, head + "Trust me.\n" + rest);
  CHECK(result.status == 1);
  CHECK(result.out.ends_with("\nattention/00_test: nothing was claimed\n"));
}

TEST_CASE("lesson page: an option runs its function in place of the parts") {
  Result result = run_page({"--beta", "2.5"});
  CHECK(result.status == 0);
  CHECK(result.out == "   5\n");
  result = run_page({"--sentence", "cats sleep"});
  CHECK(result.out == "   cats sleep\n");
  CHECK(run_page({"--beta", "11"}).status == 2);
  CHECK(run_page({"--beat", "1"}).status == 2);
  LessonPage page = test_page();
  page.plays[0].with_number = [](Lesson& to, double) { to.claim(false, "never"); };
  result = run_page({"--beta", "1"}, page);
  CHECK(result.status == 1);
  CHECK(result.out.ends_with("attention/00_test: 1 of 1 claim FALSE\n"));
}

TEST_CASE("lesson page: -o writes the picture and prints nothing") {
  const testing::Folder folder;
  const std::string path = folder / "a.svg";
  const Result result = run_page({"-o", path.c_str()});
  CHECK(result.status == 0);
  CHECK(result.out.empty());
  CHECK(testing::joined(testing::lines_in(path)) ==
        testing::joined(testing::split_lines(Svg(10, 20).file())));
  LessonPage page = test_page();
  page.picture = nullptr;
  CHECK(run_page({"-o", path.c_str()}, page).status == 2);
}

TEST_CASE("lesson page: --ask waits for a line, or for the end of the input") {
  const testing::Folder folder;
  const std::string input = folder / "input";
  std::ofstream(input) << "my prediction\nrest";
  REQUIRE(std::freopen(input.c_str(), "r", stdin) != nullptr);
  LessonPage page = test_page();
  page.body = [](LessonText& to) {
    to.claim("less", std::getchar() == 'r');  // the first line has been read
    to.set("two", "2");
  };
  const Result result = run_page({"--ask"}, page);
  REQUIRE(std::freopen("/dev/null", "r", stdin) != nullptr);
  CHECK(result.status == 0);
  CHECK(run_page({"--ask", "--beta", "3"}).status == 2);
  CHECK(run_page({"--out", "a.svg", "--beta", "3"}).status == 2);
  CHECK(result.out.find("Write your prediction down, then press the return key.") !=
        std::string::npos);
}

TEST_CASE("lesson page: help names the options and tells no answer") {
  const Result help = run_page({"--help"});
  CHECK(help.status == 0);
  CHECK(help.out.find("--sentence TEXT") != std::string::npos);
  CHECK(help.out.find("1 one does not") != std::string::npos);
  CHECK(help.out.find("1 < 2") == std::string::npos);
}
