// What Q, K and V can raise, and what not.        Note 000, "Attention with a worked out example"
//
// Adds to lesson 04_worked_example a pattern that is learnt: W_Q, W_K and W_V start at 1, and some
// of them climb, by gradient, the association of walk with birds, while the others stay.
// Key idea: Q and K choose a mean of what there is, so they have a ceiling; V changes what there
// is, and has none. It is the objective that makes attending pay.
// Next: examples/birds/learning.cpp, the thirty lines that learn; engine/ops/softmax.cpp.
#include <algorithm>
#include <string>

#include "engine/ops.h"
#include "examples/birds/by_hand.h"
#include "examples/birds/learning.h"
#include "examples/lessons/lesson.h"
#include "examples/support/table.h"
#include "nn/layers/attention.h"

namespace fledge {

namespace {

using birds::Learned, birds::Objective;
using support::formatted, support::Lesson, support::Table;

double dot(const Tensor& a, const Tensor& b) { return sum(a * b).item(); }

/// Experiments with one objective, and the table of what came of them.
class Ascents {
 public:
  explicit Ascents(Objective objective) : objective_(objective) {}

  Learned run(const char* learns, double rate, Dim steps) {
    Learned e = birds::learn(learns, objective_, rate, steps);
    const auto [at_birds, at_sometimes, at_walk] = e.after.attention;
    table_.row(
        {learns, formatted("%d", static_cast<int>(steps)), formatted("%7.4f", e.before.association),
         formatted("%7.4f", e.after.association),
         formatted("birds %.2f, sometimes %.2f, walk %.2f", at_birds, at_sometimes, at_walk)});
    return e;
  }
  std::string text() const { return table_.text(); }

 private:
  Objective objective_;
  Table table_{
      {{"learns"}, {"steps", Table::Align::right}, {"from"}, {"to"}, {"walk then looks at"}}};
};

void raise_the_product(Lesson& to) {
  to.part("The product v3'.v1: a ceiling, or none");
  to.say(
      "At first W_Q, W_K and W_V are the identity. The mask is causal, scores are divided by "
      "sqrt(3). The matrices in the first column learn.\n");
  Ascents ascents(Objective::product);
  const Learned Q = ascents.run("Q", 10, 400), K = ascents.run("K", 10, 400);
  const Learned QK = ascents.run("Q and K", 10, 100);
  const Learned V = ascents.run("V", 1, 100), QKV = ascents.run("Q, K and V", 1, 100);
  to.show(ascents.text());
  to.claim_near(Q.before.association, -0.0072, 5e-5, "the product at the start of all five");

  const Tensor X = birds::word_vectors(), birds = slice(X, 0, 0, 1);
  const std::vector<double> products = to_vector(matmul_transposed(X, birds).value());
  to.say("\nWith V fixed, v3' is a weighted mean of v1, v2 and v3. " +
         formatted("Their products with v1 are %.2f, %.2f and %.2f. ", products[0], products[1],
                   products[2]) +
         "A mean is at most its largest part.\n");
  const double ceiling = birds::product_ceiling();
  to.claim_near(ceiling, 0.14, 1e-7, "the ceiling of Q and K, reached by looking at birds alone");
  to.claim_near(QK.after.association, 0.1395, 5e-5, "Q and K together, 100 steps");
  to.claim_near(Q.after.association, 0.1338, 5e-5, "Q alone, 400 steps");
  to.claim_near(K.after.association, 0.1338, 5e-5, "K alone, 400 steps");
  to.claim(std::max({Q.after.association, K.after.association, QK.after.association}) < ceiling,
           "none of them passes it");

  // For V alone, d(a·X·W·v1ᵀ)/dW = (a·X)ᵀ·v1 never changes: each step adds |a·X|²·|v1|².
  const Tensor mean = slice(attend(X, X, X, 1, causal()).output, 0, 2, 3);
  to.say(
      "\nIf V learns, there is no ceiling. For V alone the gradient is the same at every step, so "
      "the product rises in a straight line.\n");
  to.claim_near(V.after.association,
                V.before.association + 100 * dot(mean, mean) * dot(birds, birds), 1e-5,
                "V alone, 100 equal steps of |a X|^2 |v1|^2 each");
  to.claim(QKV.after.association > 10 * ceiling && QKV.after.attention[2] > 0.95,
           "if all three learn, the product exceeds 1.4 and walk looks at itself");
  to.slip("000", "we compute the attention row a_i as a product of q_k and V",
          formatted("with V learned walk looks at birds %.4f, before %.4f", V.after.attention[0],
                    V.before.attention[0]),
          "the row is the softmax of the products of q_i with the keys; it mixes the values");
  to.claim(V.after.attention == V.before.attention && K.after.attention != K.before.attention,
           "learning V leaves the row as it is, to the bit; learning K does not");
}

void raise_the_cosine(Lesson& to) {
  to.part("The cosine of v3' and v1: it ends at 1");
  Ascents ascents(Objective::cosine);
  int near_one = 0;
  double least_by_QK = 1;
  for (const char* learns : {"Q", "K", "Q and K", "V", "Q, K and V"}) {
    const Learned e = ascents.run(learns, 10, 400);
    near_one += e.after.association > 0.998 ? 1 : 0;
    if (std::string(learns).find('V') == std::string::npos)
      least_by_QK = std::min(least_by_QK, e.after.attention[0]);
  }
  to.show(ascents.text());
  to.claim(near_one == 5, "any of them raises the cosine to 0.998 or more");
  to.claim(least_by_QK > 0.9,
           formatted("if only Q, K or both learn, walk looks at birds %.2f or more", least_by_QK));
  to.say(
      "\nIf V learns, the association (the cosine) can rise although walk looks where it looked "
      "before: a high association does not prove attention. Lesson 14 has another objective, to "
      "predict the next word of a text. There the model must look at birds.");
}

}  // namespace

}  // namespace fledge

int main(int argc, char** argv) {
  return support::run_lesson(argc, argv, "05_what_can_be_raised",
                             "What learning Q, K and V can raise, and what it cannot.",
                             [](support::Lesson& to) {
                               fledge::raise_the_product(to);
                               fledge::raise_the_cosine(to);
                             });
}
