#include <algorithm>

#include "examples/exercises/graders/exercise_list.h"
#include "examples/exercises/graders/four_keys.h"
#include "examples/exercises/graders/numbers.h"
#include "examples/support/text.h"

namespace exercises {

using support::formatted;

namespace {

void grade_average_values(Grading& to) {
  const Row q = averaging_query();
  if (!to.accept("your query", q, 4)) return;
  const Look look = show_look(to, q);
  const double apart = look.scores[0] - look.scores[3];
  const double rest = look.weights[1] + look.weights[2];
  const bool are_zero = is_near(look.scores[1], 0, 1e-9) && is_near(look.scores[2], 0, 1e-9);
  to.claim(is_near(look.weights[0], look.weights[3], 1e-3), "keys 1 and 4 have equal weights",
           formatted("their scores differ by %.4g, so their weights are %.4f and %.4f", apart,
                     look.weights[0], look.weights[3]));
  to.claim(farthest({look.result}, {{0.5, -0.5}}) <= 1e-3, "c is (0.5, -0.5), within 0.001",
           rest > 1e-3
               ? formatted("keys 2 and 3 still have %.4f of the weight", rest) +
                     (are_zero ? ": a score of 0 adds exp(0) = 1 to the sum. Make the "
                                 "scores of keys 1 and 4 larger"
                               : ": the scores of keys 1 and 4 must be further above theirs")
               : "the two weights are not one half each");
  const Row upset = softmax_of({1, 0});
  to.conclude(
      "Two equal scores share the weight equally, if they are far above the others. A small "
      "difference upsets this: a score that is larger by 1 " +
      formatted("makes the weights %.2f and %.2f. Noise in a key has this effect.", upset[0],
                upset[1]));
}

}  // namespace

Exercise average_values() {
  return {"06_average_values",
          "A query that averages two values",
          "note 001",
          grade_average_values,
          {"Keys 1 and 4 must have the same score, and keys 2 and 3 a much smaller one.",
           "q = beta (k_1 + k_4) has the score beta with both, and 0 with the others.",
           "k_1 + k_4 is (1, 0, 0, 1). Multiply it by 10."}};
}

}  // namespace exercises
