#include "examples/lessons/lesson.h"

#include <cmath>

#include "tests/support/catch.h"
#include "tests/support/process.h"

using namespace support;

namespace {

/// What the body prints on stdout; 1 if a claim was false.
testing::Result lesson(const std::function<void(Lesson&)>& body) {
  return testing::run_here([&] {
    Lesson to;
    body(to);
    return to.false_claims() == 0 ? 0 : 1;
  });
}

}  // namespace

TEST_CASE("lesson: parts, sentences, new words, slips and claims, as they are printed") {
  const auto body = [](Lesson& to) {
    to.part("Sums");
    to.say("one\ntwo");
    to.define("softmax",
              "exp of each score, divided by the sum of all of them, so that they add up to 1.");
    to.claim(true, "1 < 2");
    to.part("Products");
    to.claim_near(0.1 + 0.2, 0.3, 1e-12, "0.1 + 0.2");
    to.slip("003", "2 + 2 = 5", "4", "a carry too many");
  };
  const std::string text =
      "1. Sums\n\n   one\n   two\n"
      "   new word: softmax. exp of each score, divided by the sum of all of them, so\n"
      "             that they add up to 1.\n"
      "   ok     1 < 2\n\n2. Products\n\n   ok     0.1 + 0.2: 0.3\n"
      "   slip in note 003\n      says        2 + 2 = 5\n      comes out   4\n"
      "      why         a carry too many\n";
  const testing::Result result = lesson(body);
  CHECK(result.status == 0);
  CHECK(result.err.empty());
  CHECK(result.out == text);

  // With an output of its own it prints nothing.
  const testing::Result silent = testing::run_here([&] {
    std::string lines;
    Lesson to(Paint{}, [&](const std::string& line) { lines += line + "\n"; });
    body(to);
    return lines == text && to.claims() == 2 && to.false_claims() == 0 ? 0 : 1;
  });
  CHECK(silent.status == 0);
  CHECK(silent.out.empty());
}

TEST_CASE("lesson: a claim holds or is FALSE, and one that is false ends it with 1") {
  struct Row {
    std::function<void(Lesson&)> claim;
    std::string printed;
  };
  const std::vector<Row> rows{
      {[](Lesson& to) { to.claim(true, "true"); }, "   ok     true\n"},
      {[](Lesson& to) { to.claim(false, "2 < 1"); }, "   FALSE  2 < 1\n"},
      {[](Lesson& to) { to.claim_near(0.25, 0.5, 0.1, "a half"); },
       "   FALSE  a half: 0.25, not 0.5 within 0.1\n"},
      {[](Lesson& to) { to.claim_near(std::nan(""), 0.5, 1e9, "no number"); },
       "   FALSE  no number: nan, not 0.5 within 1e+09\n"},
      {[](Lesson& to) { to.claim_rate(95, 100, 95, "learned"); },
       "   ok     95 of 100 seeds (at least 95): learned\n"},
      {[](Lesson& to) { to.claim_rate(94, 100, 95, "learned"); },
       "   FALSE  94 of 100 seeds (at least 95): learned\n"},
      {[](Lesson& to) { to.claim_rate(101, 100, 95, "counted twice"); },
       "   FALSE  101 of 100 seeds (at least 95): counted twice\n"}};
  for (const Row& row : rows) {
    const testing::Result result = lesson([&](Lesson& to) {
      row.claim(to);
      to.claim(true, "last");
    });
    CHECK(result.out == row.printed + "   ok     last\n");
    CHECK(result.status == (row.printed.find("FALSE") == std::string::npos ? 0 : 1));
  }
}

TEST_CASE("lesson: sentences are broken between words at 80 columns, pictures are not") {
  const std::string letters(40, 'a'), wide = letters + " " + letters + " " + letters;
  const testing::Result result = lesson([&](Lesson& to) {
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
                          wrapped_at("      why         "));
}
