#include <algorithm>
#include <cmath>

#include "examples/exercises/graders/exercise_list.h"
#include "examples/exercises/graders/four_keys.h"
#include "examples/exercises/graders/numbers.h"
#include "examples/support/text.h"

namespace exercises {

using support::formatted;

namespace {

void grade_copy_a_value(Grading& to) {
  const Row q = copying_query();
  if (!to.accept("your query", q, 4)) return;
  const Look look = show_look(to, q);
  const double others = std::max({look.scores[0], look.scores[2], look.scores[3]});
  const double gap = look.scores[1] - others;
  to.claim(gap > 0, "key 2 has the largest score",
           "another key has a score as large or larger: q must point along k_2");
  to.claim(farthest({look.result}, {four_values()[1]}) <= 1e-3, "c is v_2, within 0.001",
           gap > 0 ? formatted("the direction may be right, but the scores are too near: key 2 is "
                               "ahead by %.4g, and gets %.4f of the weight",
                               gap, look.weights[1])
                   : "c is near another value, or near the mean of several");
  const std::string share = formatted("exp(-%.4g)", gap);
  to.conclude(
      formatted("The score of key 2 is larger than the others by %.4g or more. ", gap) +
      (gap < 700 ? "The weight of each other key is at most " + share +
                       formatted(" = %.2g of the weight of key 2. ", std::exp(-gap)) +
                       "By mathematics it is never 0: "
                 : "The weight of each other key is " + share +
                       " of the weight of key 2, or less. The program computes 0, because a double "
                       "cannot hold so small a number. By mathematics it is not 0: ") +
      "only a score of minus infinity, which a mask gives, makes the copy exact.");
}

}  // namespace

Exercise copy_a_value() {
  return {
      "05_copy_a_value",
      "A query that copies a value",
      "note 001",
      grade_copy_a_value,
      {"If q is k_2, its score with k_2 is 1 and the other scores are 0. Look at the weights that "
       "this gives.",
       "A softmax looks at differences of scores. A longer q makes them larger.",
       "q = beta k_2 gives the scores 0, beta, 0, 0. Take beta = 10 or more, and multiply each "
       "number of k_2 by it."}};
}

}  // namespace exercises
