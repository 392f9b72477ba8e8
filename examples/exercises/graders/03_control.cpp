#include "examples/exercises/graders/exercise_list.h"
#include "examples/exercises/graders/numbers.h"
#include "examples/support/text.h"

namespace exercises {

using support::formatted;

namespace {

void grade_control(Grading& to) {
  const double number = product_with_sometimes();
  const Row a = control_row();
  const bool has_number = to.accept("your v3'.v2 for the row of the note", number);
  const bool has_row = to.accept("your row with the largest v3'.v2", a, 3);
  if (!has_number || !has_row) return;
  const Matrix v = word_values();
  const Row note{0.6, 0.1, 0.4}, mixed = mixture(note, v);
  const double product = dot(mixed, v[1]), yours = dot(mixture(a, v), v[1]);
  const double before = dot(v[2], v[1]), largest = dot(v[1], v[1]);
  to.say(
      formatted("v1.v2 is %.6g, v2.v2 is %.6g, v3.v2 is %.6g", dot(v[0], v[1]), largest, before));
  to.say(formatted("your row gives v3'.v2 = %.6g\n", yours));
  to.claim(is_near(number, product, 1e-9), "your number is v3'.v2 for the row of the note",
           is_near(number, before, 1e-9)
               ? "that is v3.v2, the product before attention: take the new vector v3'"
           : is_near(number, product / 1.1, 1e-6)
               ? "that is the product for the row divided by its sum, 1.1; take the row as it is"
               : formatted("with v3' = (0.18, 0.11, 0.01) the product is not %.6g", number));
  to.claim_legal(a);
  to.claim(is_near(yours, largest, 1e-9), "your row reaches the most that a legal row can",
           yours < largest ? "another legal row reaches more: look at the three products"
                           : formatted("%.6g is more than a legal row can reach", yours));
  const double rise = product - before, rise_birds = dot(mixed, v[0]) - dot(v[2], v[0]);
  to.conclude(
      formatted("With the row of the note the product with 'sometimes' rises by %.3f, from %.2f to "
                "%.3f. ",
                rise, before, product) +
      formatted("The product with 'birds' rises by %.3f only. ", rise_birds) +
      "Mixing pulls 'walk' toward every word that is mixed in, so a rise alone does not show that "
      "'walk' looks at 'birds'.");
}

}  // namespace

Exercise control() {
  return {"03_control",
          "The control: 'sometimes'",
          "note 000",
          grade_control,
          {"v3'.v2 = 0.18 (-0.8) + 0.11 (0.3) + 0.01 (-0.1). Watch the signs.",
           "For the second part compute v1.v2, v2.v2 and v3.v2. A weighted mean is at most its "
           "largest part.",
           "v1.v2 = -0.05, v2.v2 = 0.74, v3.v2 = -0.39. All the weight goes to the largest."}};
}

}  // namespace exercises
