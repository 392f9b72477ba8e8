#include <algorithm>
#include <cmath>

#include "engine/autograd.h"
#include "examples/exercises/graders/exercise_list.h"
#include "examples/exercises/graders/numbers.h"
#include "examples/support/table.h"

namespace exercises {

using support::formatted;

namespace {

void grade_turn_a_head(Grading& to) {
  const Matrix v = word_values();
  const Row p = products_with_birds();
  Row scores;  // at the start, with W_Q = W_K = 1
  for (const Row& key : v) scores.push_back(dot(v[2], key) / std::sqrt(3.0));
  const fledge::Tensor s = fledge::parameter(tensor({scores}).value());
  const fledge::Tensor weights = softmax(s), association = sum(weights * tensor({p}));
  backward(association);
  const Row a = matrix_of(weights)[0], right = matrix_of(fledge::Tensor(s.grad()))[0];

  Row yours;
  for (std::size_t j = 0; j < 3; ++j)
    yours.push_back(gradient_of_score({a[j], p[j], association.item()}));
  if (!to.accept("your three gradients", yours, 3)) return;
  using support::Table;
  constexpr Table::Align right_side = Table::Align::right;
  Table table({{"word"},
               {"a_j"},
               {"v_j.v1", right_side},
               {"v3'.v1"},
               {"yours", right_side},
               {"backward()", right_side}});
  const char* const names[] = {"birds", "sometimes", "walk"};
  double apart = 0, apart_reversed = 0, apart_unweighted = 0, apart_alone = 0, apart_part = 0;
  for (std::size_t j = 0; j < 3; ++j) {
    table.row({names[j], formatted("%.4f", a[j]), formatted("%5.2f", p[j]),
               formatted("%.4f", association.item()), with_decimals(yours[j]),
               with_decimals(right[j])});
    apart = std::max(apart, std::abs(yours[j] - right[j]));
    apart_reversed = std::max(apart_reversed, std::abs(yours[j] + right[j]));
    apart_unweighted = std::max(apart_unweighted, std::abs(yours[j] * a[j] - right[j]));
    apart_alone = std::max(apart_alone, std::abs(yours[j] - a[j] * (1 - a[j]) * p[j]));
    apart_part = std::max(apart_part, std::abs(yours[j] - a[j] * p[j]));
  }
  to.show(table.text());
  const double sum = yours[0] + yours[1] + yours[2];
  to.claim(
      is_near(sum, 0, 1e-12), "the three gradients add up to 0",
      formatted("yours add up to %.4g. If all scores rise by the same number, no weight moves: "
                "so the gradients must add up to 0",
                sum));
  to.claim(
      apart <= 1e-12,
      "your formula agrees with the program's own gradient, backward(), for all three words",
      apart_reversed <= 1e-12 ? "yours have the opposite signs: L falls if the scores follow them"
      : apart_alone <= 1e-12
          ? "yours is what a_j alone adds to L: the other two weights fall when a_j rises"
      : apart_part <= 1e-12 ? "yours is the part of L that word j gives now, not how fast L rises"
      : apart_unweighted <= 1e-12
          ? "a factor a_j is missing: a word without weight cannot change the mixture"
          : formatted("yours differ by up to %.4g", apart));
  to.conclude(
      "A score rises if the product of its word is larger than the present mixture. So the gradient "
      "turns 'walk' toward 'birds', and away from the other two. It is small where the weight a_j "
      "is near 0, and where the mixture has nearly reached the product.");
}

}  // namespace

Exercise turn_a_head() {
  return {
      "04_turn_a_head",
      "How a gradient turns a head",
      "note 000",
      grade_turn_a_head,
      {"If s_j rises, a_j rises, and the other weights fall: the weights still add up to 1. What "
       "does L gain by a_j, and what does it lose by the others?",
       "The slope of a_j by its own score is a_j (1 - a_j); the slope of another a_k by s_j is "
       "-a_j a_k. Multiply by p_j and p_k, add, and take a_j out.",
       "The weight, times the difference of the product and the mixture. In code: "
       "word.weight * (word.product - word.mixture)."}};
}

}  // namespace exercises
