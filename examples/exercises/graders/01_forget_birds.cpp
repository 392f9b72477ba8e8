#include <algorithm>
#include <cmath>

#include "examples/exercises/graders/exercise_list.h"
#include "examples/exercises/graders/numbers.h"
#include "examples/support/text.h"

namespace exercises {

using support::formatted;

namespace {

void grade_forget_birds(Grading& to) {
  const Row a = forgetting_row();
  if (!to.accept("your row of 'walk'", a, 3)) return;
  const Row p = products_with_birds();
  const double exact = dot(a, p), product = std::abs(exact) < 1e-15 ? 0 : exact;  // rounding
  to.say("v3' is " + text_of(mixture(a, word_values())));
  to.say(formatted("v3'.v1 = %g a1 - %g a2 - %g a3 = ", p[0], -p[1], -p[2]) +
         with_decimals(product, 10) + "\n");
  to.claim_legal(a);
  to.claim(is_near(product, 0, 1e-9), "v3'.v1 is 0",
           std::abs(product) < 5e-4
               ? "Nearly 0. Write fractions, such as 0.09 / 0.23: four decimals are not enough."
           : product < 0
               ? "v3'.v1 is negative: 'sometimes' and 'walk' point away from 'birds', and "
                 "a weight of 0 on 'birds' does not undo that"
               : "v3'.v1 is positive: the part of 'birds' is larger than the parts of "
                 "'sometimes' and 'walk' together");
  const double least = std::min(p[1] / (p[1] - p[0]), p[2] / (p[2] - p[0]));
  to.conclude(formatted("'walk' gives 'birds' the weight %.4f, and is not associated with it. No "
                        "legal row does this with less than %.4f.",
                        a[0], least) +
              " So an association of 0 does not mean that 'walk' ignores 'birds'.");
}

}  // namespace

Exercise forget_birds() {
  return {"01_forget_birds",
          "A row that forgets 'birds'",
          "note 000",
          grade_forget_birds,
          {"v3'.v1 is a1 (v1.v1) + a2 (v2.v1) + a3 (v3.v1). Compute the three products first.",
           "The products are 0.14, -0.05 and -0.09. Set one of a2 and a3 to 0; two weights remain, "
           "and they add up to 1.",
           "With a2 = 0: 0.14 a1 = 0.09 (1 - a1). So a1 is 0.09 / 0.23; you may write it so."}};
}

}  // namespace exercises
