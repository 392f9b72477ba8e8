#include "examples/exercises/graders/exercise_list.h"
#include "examples/exercises/graders/numbers.h"
#include "examples/support/text.h"

namespace exercises {

using support::formatted;

namespace {

/// The first number of E'_2 that is wrong, as a sentence; empty if all are right.
std::string wrong_number(const Row& sum, const Row& wanted, const Row& before) {
  for (std::size_t i = 0; i < 3; ++i)
    if (!is_near(sum[i], wanted[i], 1e-9))
      return formatted("number %zu of E'_2 is %.10g, and must be %g. ", i + 1, sum[i], wanted[i]) +
             formatted("dE_2 must be the wanted vector minus E_2, so its number %zu must be %g",
                       i + 1, wanted[i] - before[i]);
  return "";
}

void grade_residual(Grading& to) {
  const Matrix M_V = plumbing_value_matrix();
  if (!to.accept("your M_V", M_V, 3, 3)) return;
  const Matrix E{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
  const Matrix values = matrix_of(matmul(tensor(E), tensor(M_V)));
  const Row weights{0.55, 0.4, 0.05}, wanted{1.1, 0.4, 1}, change = mixture(weights, values);
  Row sum;
  for (std::size_t i = 0; i < 3; ++i) sum.push_back(E[2][i] + change[i]);
  to.say("E_2    " + text_of(E[2]));
  to.say("dE_2   " + text_of(change));
  to.say("E'_2   " + text_of(sum) + "   wanted: " + text_of(wanted) + "\n");
  to.claim(farthest({sum}, {wanted}) <= 1e-9, "E'_2 is (1.1, 0.4, 1)",
           farthest({change}, {wanted}) <= 1e-9
               ? "your dE_2 alone is the wanted vector; the residual adds E_2 to it once more"
               : wrong_number(sum, wanted, E[2]));
  to.conclude(
      "Attention has to write only the change. If M_V is 0, 'plumbing' keeps its vector. So before "
      "training, with a small M_V, such a block changes almost nothing. The gradient passes through "
      "the sum unchanged.");
}

}  // namespace

Exercise residual() {
  return {
      "13_residual",
      "What the residual adds",
      "note 003",
      grade_residual,
      {"What must dE_2 be? Subtract E_2 from the wanted vector.",
       "dE_2 must be (1.1, 0.4, 0). One word can write the first number and another the second.",
       "0.55 times 2 is 1.1, so V_0 can be (2, 0, 0). Find V_1 in the same way, and let V_2 be "
       "(0, 0, 0)."}};
}

}  // namespace exercises
