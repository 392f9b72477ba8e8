#include <algorithm>
#include <cmath>

#include "examples/exercises/graders/exercise_list.h"
#include "examples/exercises/graders/four_keys.h"
#include "examples/exercises/graders/numbers.h"
#include "examples/support/text.h"

namespace exercises {

using support::formatted;

namespace {

void grade_three_to_one(Grading& to) {
  const Row q = three_to_one_query();
  if (!to.accept("your query", q, 4)) return;
  const Look look = show_look(to, q);
  const double gap = look.scores[0] - look.scores[1], rest = look.weights[2] + look.weights[3];
  to.claim(is_near(std::exp(gap), 3, 0.01), "key 1 has three times the weight of key 2",
           formatted("the scores differ by %.4g, and the ratio is exp of this difference", gap) +
               (std::abs(gap) < 700 ? formatted(": %.4g", std::exp(gap)) : ""));
  to.claim(is_near(look.weights[0], 0.75, 1e-3) && is_near(look.weights[1], 0.25, 1e-3),
           "the weights are 0.75 and 0.25, within 0.001",
           rest > 1e-3
               ? formatted("keys 3 and 4 have %.4f of the weight: the scores of keys 1 and 2 "
                           "must be further above theirs",
                           rest)
               : "the ratio of the two weights is not 3");
  to.conclude(
      formatted("The scores of keys 1 and 2 differ by %.4f, and ln 3 is %.4f. ", gap,
                std::log(3.0)) +
      "The logarithm of a ratio of weights is a difference of scores. If both scores grow by the "
      "same number, only the other keys lose weight.");
}

}  // namespace

Exercise three_to_one() {
  return {
      "07_three_to_one",
      "Weights of three to one",
      "note 001",
      grade_three_to_one,
      {"Since the keys have the length 1 and the product 0, c1 is the score of key 1, c2 that of "
       "key 2, and so on.",
       "a_1 / a_2 = exp(c1) / exp(c2) = exp(c1 - c2). For which difference is it 3?",
       "c1 - c2 = ln 3, in code std::log(3.0). Let c2 be 10, and c3 and c4 be 0."}};
}

}  // namespace exercises
