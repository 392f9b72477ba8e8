#include <algorithm>

#include "examples/exercises/graders/exercise_list.h"
#include "examples/exercises/graders/numbers.h"
#include "examples/support/text.h"

namespace exercises {

using support::formatted;

namespace {

void grade_largest_association(Grading& to) {
  const Row a = nearest_row();
  const double number = largest_product();
  const bool has_row = to.accept("your row of 'walk'", a, 3);
  const bool has_number = to.accept("your largest v3'.v1", number);
  if (!has_row || !has_number) return;
  const Row p = products_with_birds();
  const double product = dot(a, p), ceiling = *std::max_element(p.begin(), p.end());
  to.say(formatted("v3'.v1 = %g a1 - %g a2 - %g a3 = %.6g\n", p[0], -p[1], -p[2], product + 0.0));
  to.claim_legal(a);
  to.claim(
      is_near(product, ceiling, 1e-9), "your row reaches the most that a legal row can",
      product < ceiling
          ? formatted("your row reaches %.6g, and another legal row reaches more", product + 0.0)
          : formatted("%.6g is more than a legal row can reach", product));
  to.claim(is_near(number, product, 1e-9), "your number is v3'.v1 of your row",
           formatted("your number is %.6g, and your row gives %.6g", number, product + 0.0));
  to.conclude(
      formatted("With legal weights v3'.v1 is a weighted mean of %g, %g and %g. ", p[0], p[1],
                p[2]) +
      "A mean is at most its largest part. So learning Q and K has this ceiling; learning V "
      "has none.");
}

}  // namespace

Exercise largest_association() {
  return {"02_largest_association",
          "The largest association",
          "note 000",
          grade_largest_association,
          {"v3'.v1 = 0.14 a1 - 0.05 a2 - 0.09 a3. The weights share out a total of 1.",
           "Move a little weight from one word to another. Which move raises the sum? Go on until "
           "no move is left."}};
}

}  // namespace exercises
