// What a lesson prints: its sentences and claims, the text with its names, and the program around it.
#include <filesystem>
#include <fstream>

#include "examples/lessons/lesson_page.h"
#include "tests/support/folder.h"
#include "tests/support/given.h"
#include "tests/support/process.h"

namespace lesson_tests {
namespace {

using namespace support;

using Values = std::function<void(LessonText&)>;

constexpr const char* opening = "# Sums\n\n**Question.** Why\nnot?\n\n**Predict.** Yes.\n\n";
constexpr const char* reading_part = "\n## Read in the code\n\n- `a/b.h`, `f`: what it does\n";
constexpr const char* trial_part =
    "\n## Try\n\n- `1 -2`: repeats\n  them\n\n{{text}}\n\n- [short] short\n";
constexpr const char* two_terms =
    "| term | meaning | by |\n| --- | --- | --- |\n| mean | The sum, divided by n. | x |\n";

/// What is printed of this text when `body` gives the values.
std::string printed(
    const std::string& text, const Values& body = [](LessonText&) {}) {
  std::string out;
  Lesson lesson({}, [&](const std::string& line) { out += line + "\n"; });
  LessonText markdown("attention/sums", opening + text + reading_part, two_terms, lesson);
  body(markdown);
  markdown.finish();
  return out;
}

// The parts of a program, and what it does with arguments.
void two_claims(LessonText& to) {
  to.claim("less", true);
  to.set("two", "2");
}
void a_false_claim(LessonText& to) { to.claim("less", false), to.set("two", "2"); }
void repeat(LessonText& to, const std::string& text) {
  to.set("text", text), to.claim("short", text.size() < 5);
}

testing::Result run_page(std::vector<const char*> arguments, Part part = two_claims,
                         const std::string& text = "- [less] 1 < {{two}}\n") {
  const testing::Folder folder;
  std::filesystem::create_directories(folder / "lessons/attention");
  std::ofstream(folder / "lessons/attention/test.md")
      << opening << text << reading_part << trial_part;
  std::ofstream(folder / "GLOSSARY.md") << two_terms;
  std::filesystem::create_directories(folder / "lessons/engine");
  std::filesystem::create_directories(folder / "exercises");
  std::ofstream(folder / "exercises/07_sum.txt") << "A sum\n";
  std::ofstream(folder / "lessons/engine/next.md") << "# What follows\n\nText.\n";
  arguments.insert(arguments.begin(), "build/attention/test");
  const LessonProgram program({part}, repeat, "/any/where/attention/test.cpp");
  return testing::run_here([&] {
    return run_lesson(static_cast<int>(arguments.size()), arguments.data(), folder / "lessons");
  });
}

}  // namespace

TEST_CASE("lesson: a claim holds or is FALSE") {
  const auto claimed = [](const Values& claim) {
    std::string out;
    Lesson lesson({}, [&](const std::string& line) { out += line; });
    LessonText to("x", opening + std::string("- [it] what\n") + reading_part, two_terms, lesson);
    claim(to);
    CHECK(lesson.claims() == 1);
    CHECK(lesson.false_claims() == (out.find("FALSE") == out.npos ? 0 : 1));
    return out;
  };
  CHECK(claimed([](LessonText& to) { to.claim("it", true); }) == "   ok     what");
  CHECK(claimed([](LessonText& to) { to.claim("it", false); }) == "   FALSE  what");
  CHECK(claimed([](LessonText& to) { to.claim_near("it", 0.1 + 0.2, 0.3, 1e-12); }) ==
        "   ok     what: 0.3");
  CHECK(claimed([](LessonText& to) { to.claim_near("it", 0.25, 0.5, 0.1); }) ==
        "   FALSE  what: 0.25, not 0.5 within 0.1");
  CHECK(claimed([](LessonText& to) { to.claim_near("it", std::nan(""), 0.5, 1e9); }) ==
        "   FALSE  what: nan, not 0.5 within 1e+09");
  for (const auto& [count, verdict] : {std::pair{95, "ok   "}, {94, "FALSE"}, {101, "FALSE"}})
    CHECK(claimed([n = count](LessonText& to) { to.claim_rate("it", n, 100, 95); }) ==
          formatted("   %s  %d of 100 seeds (95 needed): what", verdict, count));
  CHECK(claimed([](LessonText& to) { to.claim_rate("it", 100, 100, 100); }) ==
        "   ok     100 of 100 seeds: what");
}

TEST_CASE("lesson text: each kind of block, printed as far as its values are known") {
  const std::string text =
      "## Of one\n\nA sentence\nof two lines, {{a name}}.\n\n**mean**\n\n    1 + 1 = {{a name}}\n"
      "    - 2\n\n{{table}}\n\n- [first] it is {{a name}},\n  and\n- [second] 3\n- [third] seeds\n\n"
      "## Of two\n\nEnd.";
  const std::string known =
      "1. Of one\n\n   A sentence of two lines, 2.\n\n"
      "   new word: mean. The sum, divided by n.\n\n"
      "      1 + 1 = 2\n      - 2\n\n| 1 |\n| 2 |\n\n"
      "   ok     it is 2, and\n";
  const Values in_order = [](LessonText& to) {
    to.claim("first", true);
    to.set("a name", "%d", 2);
    to.set("table", "| 1 |\n| 2 |");
    to.claim_near("second", 3, 3, 0);
    to.claim_rate("third", 4, 5, 3);
  };
  CHECK(printed(text, in_order) ==
        known +
            "   ok     3: 3\n   ok     4 of 5 seeds (3 needed): seeds\n\n2. Of two\n\n   End.\n");
  std::string out;
  Lesson lesson({}, [&](const std::string& line) { out += line + "\n"; });
  LessonText markdown("x", opening + text + reading_part + trial_part, two_terms, lesson);
  markdown.before_part = [&] { out += "(wait)"; };
  markdown.claim("third", true);
  CHECK(out == "1. Of one\n\n");
  markdown.claim("first", true);
  markdown.set("a name", "2");
  markdown.set("table", "| 1 |\n| 2 |");
  CHECK(out == known);
  markdown.claim("second", true);
  CHECK_THAT(out, EndsWith("seeds\n(wait)\n2. Of two\n\n   End.\n"));
  CHECK(markdown.title() == "Sums");
  CHECK(markdown.question() == "Why not?");
  CHECK(markdown.prediction() == "Yes.");
  CHECK(markdown.reading().at(0).what == "what it does");
  CHECK(markdown.trial().arguments == "1 -2");
  CHECK(markdown.trial().what == "repeats them");
}

TEST_CASE("lesson text: names and values that do not fit are named") {
  const Values nothing = [](LessonText&) {};
  const Values a_value = [](LessonText& to) { to.set("a", "1"); };
  const Values a_claim = [](LessonText& to) { to.claim("a", true); };
  const Values two_values = [](LessonText& to) { to.set("a", "1"), to.set("a", "1"); };
  const Values two_claims_of_a = [](LessonText& to) { to.claim("a", true), to.claim("a", true); };
  const std::map<std::string, Values> bodies{{"nothing", nothing},
                                             {"a value", a_value},
                                             {"a claim", a_claim},
                                             {"two values", two_values},
                                             {"two claims", two_claims_of_a}};
  for (const testing::Given& one :
       testing::given_in(FLEDGE_SOURCE_DIR "/tests/examples/lessons/misfits.txt")) {
    INFO(one.given);
    CHECK_THROWS_WITH(printed(one.given, bodies.at(one.function)),
                      StartsWith("attention/sums.md: ") && ContainsSubstring(one.result));
  }
  Lesson lesson;
  CHECK_THROWS_AS(LessonText("x", "# Title\n\nNo question.\n", two_terms, lesson),
                  fledge::ValueError);
}

TEST_CASE("lesson program: question and prediction, parts, what to read and to try, a verdict") {
  const testing::Result result = run_page({});
  CHECK(result.status == 0);
  CHECK(result.out ==
        "Sums\n\n   question: Why not?\n   predict:  Yes.\n\n"
        "   ok     1 < 2\n\nRead in the code\n   a/b.h, f: what it does\n\nTry\n"
        "   build/lessons/attention/test 1 -2\n      repeats them\n\n"
        "attention/test: 1 claim holds\n");
  const testing::Result wrong = run_page({}, a_false_claim);
  CHECK(wrong.status == 1);
  CHECK_THAT(wrong.out, EndsWith("\nattention/test: 1 of 1 claim FALSE\n"));
  const testing::Result none = run_page(
      {}, [](LessonText&) {}, "Trust me.\n");
  CHECK(none.status == 1);
  CHECK_THAT(none.out, EndsWith("\nattention/test: nothing was claimed\n"));
}

TEST_CASE("lesson program: with arguments a function runs in place of the parts") {
  CHECK(run_page({"1", "-2"}).out == "1 -2\n\n   ok     short\n\nattention/test: 1 claim holds\n");
  const testing::Result wrong = run_page({"cats", "sleep"});
  CHECK(wrong.status == 1);
  CHECK_THAT(wrong.out, EndsWith("attention/test: 1 of 1 claim FALSE\n"));
  const testing::Result help = run_page({"--help"});
  CHECK(help.status == 0);
  CHECK_THAT(help.out, ContainsSubstring("WORDS") && ContainsSubstring("1 one does not") &&
                           !ContainsSubstring("1 < 2"));
  for (const std::vector<const char*>& refused :
       std::vector<std::vector<const char*>>{{"--beta", "1"}, {"--ask", "3"}, {"--json", "a", "3"}})
    CHECK(run_page(refused).status == 2);
}

TEST_CASE("lesson program: a guess is taken, and compared with what came out") {
  const std::string text =
      "**Guess.** one and one = {{two}}\n- `3`: one too\n  many\n\n"
      "**Guess.** Which is it? more | less | as much = less\n- `other`: see [it](test.md)\n\n"
      "**Figure.** sums: move it\n\n- [less] 1 < {{two}}\n\n**Exercise.** 7: a sum\n";
  const testing::Folder folder;
  const auto told = [&](const std::string& given) {
    std::ofstream(folder / "input") << given;
    REQUIRE(std::freopen((folder / "input").c_str(), "r", stdin) != nullptr);
    const testing::Result result = run_page({"--ask"}, two_claims, text);
    REQUIRE(std::freopen("/dev/null", "r", stdin) != nullptr);
    const std::size_t begin = result.out.find("   answer:"), end = result.out.find("\n\nRead in");
    return result.out.substr(begin, end - begin);
  };
  CHECK(told("2\nl\n") ==
        "   answer: one and one: You guessed 2, and it is 2.\n"
        "   answer: Which is it? You guessed less, and it is less.");
  CHECK(told("3\nmore\n") ==
        "   answer: one and one: You guessed 3; it is 2: one too many\n"
        "   answer: Which is it? You guessed more; it is less: see it");
  CHECK(told(" 2.0 of them\nLESS\n") == told("2.0\nle\n"));
  CHECK_THAT(told("2,0\nle\n"), ContainsSubstring("You guessed 2,0, and it is 2.") &&
                                    ContainsSubstring("You guessed less, and it is less."));
  CHECK_THAT(told("3.0\nas\n"), ContainsSubstring("You guessed 3.0; it is 2: one too many\n") &&
                                    ContainsSubstring("You guessed as much; it is less: see it"));
  for (const std::string right : {"200 %", "4/2", "4 / 2", "2 of them"})
    CHECK_THAT(told(right + "\nmuch\n"), ContainsSubstring(", and it is 2.") &&
                                             ContainsSubstring("You guessed as much; it is less"));
  CHECK_THAT(told("-0,18\nuch\n"), ContainsSubstring("You guessed -0,18; it is 2.") &&
                                       ContainsSubstring("You guessed uch; it is less"));
  CHECK_THAT(told("1,9\n"), ContainsSubstring("one and one: You guessed 1,9; it is 2.\n") &&
                                EndsWith("Which is it? less"));
  CHECK(told("") == "   answer: one and one: 2\n   answer: Which is it? less");
  CHECK(run_page({"1", "-2"}, two_claims, text).out == run_page({"1", "-2"}).out);

  const testing::Result result = run_page({"--json", (folder / "json").c_str()}, two_claims, text);
  CHECK_THAT(result.out,
             ContainsSubstring("   guess:    one and one\n") &&
                 ContainsSubstring("   guess:    Which is it? (more | less | as much)") &&
                 ContainsSubstring("\nExercise: make exercises N=7: a sum\n"));
  const std::string json = testing::text_of(folder / "json");
  for (const char* part :
       {R"j({"name":"attention/test","title":"Sums","question":"Why not?","prediction":"Yes.",)j",
        R"j({"label":"one and one","choices":[],"answer":"2","others":{"3":"one too many"}},)j",
        R"j({"label":"Which is it?","choices":["more","less","as much"],"answer":"less",)j",
        R"j("others":{"other":"see [it](test.md)"}}],"figure":{"name":"sums","what":"move it"},)j",
        R"j("blocks":[{"kind":"claim","text":"1 \u003c 2","holds":true}],)j",
        R"j("exercise":{"number":"7","what":"a sum"},"reading":[{"file":"a/b.h","name":"f",)j",
        R"j("trials":[{"command":"build/lessons/attention/test 1 -2","what":"repeats them"}])j"})
    CHECK_THAT(json, ContainsSubstring(part));
}

TEST_CASE("lesson program: a link prints its text; it leads to a lesson, and an exercise exists") {
  const std::string text =
      "- [less] 1 < {{two}} in f[x](y), [here](test.md) and\n"
      "  [there](../engine/next.md) (next.md)\n";
  CHECK_THAT(run_page({}, two_claims, text).out,
             ContainsSubstring("   ok     1 < 2 in f[x](y), here and there (next.md)\n"));
  for (const auto& [wrong, said] : std::map<std::string, std::string>{
           {"**Exercise.** 8: a product", "there is no exercise 8"},
           {"See [it](nowhere.md).", "there is no lesson nowhere.md"}}) {
    const testing::Result refused = run_page({}, two_claims, wrong + "\n\n" + text);
    CHECK(refused.status == 1);
    CHECK_THAT(refused.err, ContainsSubstring("attention/test.md: " + said));
  }
}

}  // namespace lesson_tests
