#include "examples/lessons/lesson.h"

#include <cmath>

#include "tests/support/catch.h"
#include "tests/support/process.h"

using namespace support;
using testing::Result;
using testing::run_here;

namespace {

Result lesson(const std::function<void(Lesson&)>& body, const char* argument = nullptr) {
  return run_here([&] {
    const char* argv[] = {"00_test", argument};
    return run_lesson(argument == nullptr ? 1 : 2, argv, "00_test", "Is a test.", body);
  });
}

}  // namespace

TEST_CASE("lesson: parts, words and claims, and a last line that counts them") {
  const Result result = lesson([](Lesson& to) {
    to.part("Sums");
    to.say("one\ntwo");
    to.claim(true, "1 < 2");
    to.part("Products");
    to.claim_near(0.1 + 0.2, 0.3, 1e-12, "0.1 + 0.2");
  });
  CHECK(result.status == 0);
  CHECK(result.err.empty());
  CHECK(result.out ==
        "1. Sums\n\n   one\n   two\n   ok     1 < 2\n\n2. Products\n\n   ok     0.1 + 0.2: 0.3\n"
        "\n00_test: 2 claims hold\n");
}

TEST_CASE("lesson: one false claim among true ones ends it with 1") {
  const Result result = lesson([](Lesson& to) {
    to.claim(true, "true");
    to.claim(false, "2 < 1");
    to.claim_near(0.25, 0.5, 0.1, "a half");
    to.claim_near(std::nan(""), 0.5, 1e9, "no number");
  });
  CHECK(result.status == 1);
  CHECK(result.out ==
        "   ok     true\n   FALSE  2 < 1\n   FALSE  a half: 0.25, not 0.5 within 0.1\n"
        "   FALSE  no number: nan, not 0.5 within 1e+09\n\n00_test: 3 of 4 claims FALSE\n");
}

TEST_CASE("lesson: rates over seeds hold from their least count on") {
  const auto at = [](int count) {
    return lesson([count](Lesson& to) { to.claim_rate(count, 100, 95, "learned"); });
  };
  CHECK(at(95).status == 0);
  CHECK(at(95).out ==
        "   ok     95 of 100 seeds (at least 95): learned\n\n00_test: 1 claim holds\n");
  CHECK(at(94).status == 1);
  CHECK(at(101).status == 1);  // counted twice
}

TEST_CASE("lesson: nothing claimed is nothing learned") {
  const Result result = lesson([](Lesson& to) { to.say("trust me"); });
  CHECK(result.status == 1);
  CHECK(result.out == "   trust me\n\n00_test: nothing was claimed\n");
}

TEST_CASE("lesson: sentences are broken between words at 80 columns, pictures are not") {
  const std::string letters(40, 'a'), wide = letters + " " + letters + " " + letters;
  const Result result = lesson([&](Lesson& to) {
    to.say(wide + "\n\n  " + wide);
    to.show("  |\n|");
    to.claim(true, wide);
    to.slip("000", wide, "", wide);
  });
  const auto wrapped_at = [&](const std::string& label) {
    const std::string later(label.size(), ' ');
    return label + letters + "\n" + later + letters + "\n" + later + letters + "\n";
  };
  CHECK(result.out == wrapped_at("   ") + "\n" + wrapped_at("     ") + "  |\n|\n" +
                          wrapped_at("   ok     ") + "   slip in note 000\n" +
                          wrapped_at("      says        ") + "      comes out\n" +
                          wrapped_at("      why         ") + "\n00_test: 1 claim holds\n");
}

TEST_CASE("lesson: a slip shows what stands there, what comes out, and why") {
  const Result result = lesson([](Lesson& to) {
    to.slip("003", "2 + 2 = 5", "4", "a carry too many");
    to.claim(2 + 2 == 4, "2 + 2 = 4");
  });
  CHECK(result.out ==
        "   slip in note 003\n      says        2 + 2 = 5\n      comes out   4\n"
        "      why         a carry too many\n   ok     2 + 2 = 4\n\n00_test: 1 claim holds\n");
}

TEST_CASE("lesson: with an output of its own it prints nothing") {
  std::string lines;
  const Result result = run_here([&] {
    Lesson to(Paint{}, [&](const std::string& line) { lines += line + "|"; });
    to.part("Sums");
    to.say("one");
    to.claim(false, "2 < 1");
    return lines == "1. Sums\n|   one|   FALSE  2 < 1|" && to.false_claims() == 1 ? 0 : 1;
  });
  CHECK(result.status == 0);
  CHECK(result.out.empty());
}

TEST_CASE("lesson: help, and no arguments") {
  const auto nothing = [](Lesson& to) { to.claim(true, "never said"); };
  const Result help = lesson(nothing, "--help");
  CHECK(help.status == 0);
  CHECK(help.out.find("Is a test.") != std::string::npos);
  CHECK(help.out.find("1 one does not") != std::string::npos);
  CHECK(help.out.find("never said") == std::string::npos);
  CHECK(lesson(nothing, "--sede").status == 2);
}
