#include <cmath>

#include "examples/exercises/graders/exercise_list.h"
#include "examples/exercises/graders/numbers.h"
#include "examples/support/table.h"

namespace exercises {

using support::formatted;

namespace {

/// The mean square of d·x over 4000 draws of six numbers x, normal with variance 1.
double measured_variance(double d) {
  fledge::Rng rng(1);
  const fledge::Tensor noise = fledge::Tensor(fledge::random_normal({4000, 6}, 0, 1, rng)) * d;
  return mean(noise * noise).item();
}

void grade_noisy_key(Grading& to) {
  const Row alphas{0.0001, 0.01, 4};
  Row d, found;
  for (const double alpha : alphas) d.push_back(deviation_of_key(alpha));
  if (!to.accept("your d for alpha = 0.0001, 0.01 and 4", d, 3)) return;
  support::Table table({{"alpha"}, {"your d"}, {"measured variance"}, {"variance / alpha"}});
  bool right = true, exact = true, is_square = true;
  for (std::size_t i = 0; i < 3; ++i) {
    found.push_back(measured_variance(d[i]));
    table.row({formatted("%g", alphas[i]), formatted("%.6g", d[i]), formatted("%.4g", found[i]),
               formatted("%.4g", found[i] / alphas[i])});
    right = right && is_near(found[i] / alphas[i], 1, 0.05);
    exact = exact && is_near(d[i] * d[i], alphas[i], 1e-9 * alphas[i]);
    is_square = is_square && is_near(d[i], alphas[i], 1e-12);
  }
  to.show(table.text());
  to.claim(d[0] >= 0 && d[1] >= 0 && d[2] >= 0, "d is not negative",
           "a standard deviation is a distance: it is not negative");
  to.claim(right, "the measured variance is alpha, within 5 %",
           is_square
               ? "your d is alpha, as in the note. The variance of d x is d d, so it comes out "
                 "as alpha alpha"
               : formatted("for alpha = 0.01 it is %.4g", found[1]));
  to.claim(exact, "d d is alpha", formatted("for alpha = 0.01 it is %.6g", d[1] * d[1]));
  const double beta = 10;
  to.conclude(
      formatted(
          "In the note the query q is beta (m_a + m_b). There a and b are two keys, m_a and m_b "
          "are their means, and beta is a number: a larger beta makes larger scores. The scores of "
          "the keys a and b then differ by a random number. Its standard deviation is 2 beta d: at "
          "beta = 10 and alpha = 0.0001 it is %g. ",
          2 * beta * d[0]) +
      formatted("With d = alpha it would be %g only.", 2 * beta * alphas[0]));
}

}  // namespace

Exercise noisy_key() {
  return {"08_noisy_key",
          "How far a noisy key is from its mean",
          "note 001",
          grade_noisy_key,
          {"The variance of d x is the mean of (d x) (d x). Take the d out: what is left is the "
           "variance of x, which is 1.",
           "So the variance of d x is d d, and it must be alpha. In code, a root is std::sqrt."}};
}

}  // namespace exercises
