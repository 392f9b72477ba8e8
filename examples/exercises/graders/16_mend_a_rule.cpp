#include "engine/gradcheck/gradcheck.h"
#include "engine/ops.h"
#include "examples/exercises/graders/exercise_list.h"
#include "examples/exercises/graders/numbers.h"
#include "examples/exercises/rule.h"
#include "examples/support/text.h"

namespace exercises {

using support::formatted;

namespace {

void grade_mend_a_rule(Grading& to) {
  const double beta = 2, line = wrong_line();
  fledge::Rng rng(1);
  const fledge::Array scores = fledge::random_normal({2, 3}, 0, 1, rng);
  fledge::GradcheckReport report;
  double apart = 0;
  bool was_checked = false;
  try {
    apart = farthest(matrix_of(sharpened_weights(scores, beta)),
                     matrix_of(softmax(fledge::Tensor(scores) * beta)));
    report = fledge::gradcheck(
        [beta](const std::vector<fledge::Tensor>& in) { return sharpened_weights(in[0], beta); },
        {scores});
    was_checked = true;
  } catch (const std::exception& error) {
    report.problem = error.what();
  }
  to.say("gradcheck() with two queries and three keys, beta = 2:");
  to.say("   " + (was_checked ? to_string(report) : report.problem) + "\n");
  if (!to.accept("your wrong line", line)) return;
  if (line != 1 && line != 2 && line != 3 && line != 4) {
    to.refuse("The number must be 1, 2, 3 or 4.");
    return;
  }
  to.say();
  to.claim(
      line == 2, "your line was the wrong one",
      formatted("line %g does what the formula says; compare what each line adds or multiplies",
                line));
  to.claim(apart <= 1e-15, "the op still computes softmax(beta s)",
           "the weights are no longer softmax(beta s): the rule was wrong, not line 1");
  to.claim(
      report.ok,
      "the two independent checks, dual numbers and finite differences, agree with the rule",
      "the rule is still wrong: " +
          (report.wrong_by_dual ? formatted("for the score %s it gives %.6g, and the derivative "
                                            "is %.6g",
                                            report.index.c_str(), report.analytic, report.expected)
                                : report.problem));
  to.conclude(
      "The sum must stay within a row: the weights of one query do not depend on the scores of "
      "another. With one query the wrong rule passes every check, since there is only one row. So a "
      "check needs shapes with more than one of everything.");
}

}  // namespace

Exercise mend_a_rule() {
  return {
      "16_mend_a_rule",
      "A wrong rule, to find and to mend",
      "engine",
      grade_mend_a_rule,
      {"Read the formula from the inside: over which index does the sum run?",
       "The sum runs over the keys k of one query i. So it goes along a row, and there is one sum "
       "for each row.",
       "Line 2 adds over the rows too. It needs axis 1 alone: std::array{1}."}};
}

}  // namespace exercises
