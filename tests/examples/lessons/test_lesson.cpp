#include "examples/lessons/lesson.h"

#include <cmath>

#include "tests/support/catch.h"
#include "tests/support/process.h"

using namespace support;
using testing::Result;
using testing::run_here;

namespace {

// What the body prints; 1 if a claim was false.
Result lesson(const std::function<void(Lesson&)>& body) {
  return run_here([&] {
    Lesson to;
    body(to);
    return to.false_claims() == 0 ? 0 : 1;
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
        "1. Sums\n\n   one\n   two\n   ok     1 < 2\n\n2. Products\n\n   ok     0.1 + 0.2: 0.3\n");
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
        "   FALSE  no number: nan, not 0.5 within 1e+09\n");
}

TEST_CASE("lesson: rates over seeds hold from their least count on") {
  const auto at = [](int count) {
    return lesson([count](Lesson& to) { to.claim_rate(count, 100, 95, "learned"); });
  };
  CHECK(at(95).status == 0);
  CHECK(at(95).out == "   ok     95 of 100 seeds (at least 95): learned\n");
  CHECK(at(94).status == 1);
  CHECK(at(101).status == 1);  // counted twice
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
                          wrapped_at("      why         ") + "");
}

TEST_CASE("lesson: a slip shows what stands there, what comes out, and why") {
  const Result result = lesson([](Lesson& to) {
    to.slip("003", "2 + 2 = 5", "4", "a carry too many");
    to.claim(2 + 2 == 4, "2 + 2 = 4");
  });
  CHECK(result.out ==
        "   slip in note 003\n      says        2 + 2 = 5\n      comes out   4\n"
        "      why         a carry too many\n   ok     2 + 2 = 4\n");
}

TEST_CASE("lesson: a new word stands before its meaning, and claims are counted") {
  const Result result = run_here([] {
    Lesson to;
    to.define("softmax",
              "exp of each score, divided by the sum of all of them, so that they add up to 1.");
    to.claim(true, "true");
    to.claim(false, "false");
    return 10 * to.claims() + to.false_claims();
  });
  CHECK(result.status == 21);
  CHECK(result.out ==
        "   new word: softmax. exp of each score, divided by the sum of all of them, so\n"
        "             that they add up to 1.\n   ok     true\n   FALSE  false\n");
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
