#include <algorithm>
#include <cmath>

#include "engine/masks.h"
#include "examples/exercises/graders/exercise_list.h"
#include "examples/exercises/graders/numbers.h"
#include "examples/support/text.h"

namespace exercises {

using support::formatted;

namespace {

const Row v_hat{0.18, 0.11, 0.01};

/// Card 2: M = A·Aᵀ takes v_a = A·c out of v_a + v_b.
bool extracts() {
  const fledge::Tensor A = tensor({{0.6, 0}, {0.8, 0}, {0, 1}}),
                       v_a = matmul(A, tensor({{2}, {-3}}));
  const fledge::Tensor v_b = tensor({{0.8}, {-0.6}, {0}});  // at right angles to both columns
  return farthest(matrix_of(matmul(matmul(A, transpose(A)), v_a + v_b)), matrix_of(v_a)) < 1e-12;
}

/// Card 4: the causal mask, transposed, hides what is below the diagonal and nothing else.
bool hides_below() {
  const fledge::Tensor one = tensor(Matrix(4, Row(4, 1.0)));
  const Matrix weights = matrix_of(transpose(softmax(one, fledge::causal())));
  bool below = true;
  for (std::size_t row = 0; row < 4; ++row)
    for (std::size_t column = 0; column < 4; ++column)
      below = below && (weights[row][column] == 0) == (row > column);
  return below;
}

/// Card 6: the scores of five words by one matrix. How many of 25 repeat another one.
int repeated_scores() {
  fledge::Rng rng(1);
  const fledge::Tensor x = fledge::random_normal({5, 4}, 0, 1, rng),
                       W = fledge::random_normal({4, 2}, 0, 1, rng);
  const Matrix S = matrix_of(matmul(matmul(x, W), transpose(matmul(x, W))));
  int repeated = 0;
  for (std::size_t i = 0; i < 5; ++i)
    for (std::size_t j = 0; j < i; ++j) repeated += S[i][j] == S[j][i] ? 1 : 0;
  return repeated;
}

struct Card {
  bool is_right;
  std::string why;
};

std::vector<Card> cards() {
  const Row v1{0.1, 0.2, 0.3}, v3{0.5, -0.1, -0.4};
  const double written = 0.18 * 0.1 + 0.11 * 0.2 + 0.01 * 0.3;
  const double first = 1 / (1 + std::exp(-4.0)), second = 1 / (1 + std::exp(2.0));
  const int repeated = repeated_scores();
  return {
      {is_near(written, dot(v_hat, v3), 1e-9),
       formatted("0.1, 0.2 and 0.3 are the numbers of v1. So the sum, %.3f, is v3'.v1, the product "
                 "with 'birds'. The label names v3, which is 'walk' itself.",
                 dot(v_hat, v1))},
      {extracts(),
       "A^T alone gives c, the coordinates of v_a. A c is v_a, so M = A A^T. The note tries A^T "
       "first and then takes the second step."},
      {is_near(first, second, 1e-9),
       "divide by exp(b), and the fraction is 1 / (1 + exp(-2b)). The factor 2 is missing, and the sign "
       "is wrong: key a has the larger score, so it must have more than half of the weight."},
      {hides_below(),
       "the key's number is the row and the query's number is the column. A later key is below the "
       "diagonal. In rows, as in fledge, it is above."},
      {fledge::common_shape({3, 4}, {3, 6}).has_value(),
       "what is added to a word's vector must have as many numbers as it. Inside a head, a value has "
       "fewer numbers: 64 instead of 768 in GPT-2 small."},
      {repeated == 10,
       formatted(
           "S_ij = S_ji. For five words, %d of 25 scores repeat another one; "
           "for n words, n (n - 1) / 2 of the n n. After the softmax the rows are divided by different sums, so the table is no longer symmetric.",
           repeated)}};
}

void grade_number(Grading& to, const char* card, const char* what, double number, double right,
                  double tolerance, const std::string& otherwise) {
  if (to.accept(std::string("your number for ") + card + what, number))
    to.claim(is_near(number, right, tolerance), std::string("your number for ") + card, otherwise);
}

void grade_find_the_slip(Grading& to) {
  const Row answers = card_answers(), numbers = card_numbers();
  if (answers.size() != 6 || numbers.size() != 2) {
    to.accept("your answers", answers, 6);
    to.accept("your numbers", numbers, 2);
    return;
  }
  const std::vector<Card> all = cards();
  for (std::size_t i = 0; i < all.size(); ++i) {
    const std::string name = "card " + std::to_string(i + 1);
    if (to.accept_choice(name, answers[i])) {
      const std::string why =
          (all[i].is_right ? "The note is right: " : "The note has a slip: ") + all[i].why;
      if (to.claim((answers[i] == RIGHT) == all[i].is_right, "your answer to " + name, why))
        to.say("       " + why);
    }
    if (i == 0)
      grade_number(to, "card 1", ", v3'.v3", numbers[0], dot(v_hat, {0.5, -0.1, -0.4}), 1e-9,
                   "multiply 0.18, 0.11 and 0.01 by the numbers of v3, and add");
    if (i == 2)
      grade_number(to, "card 3", "", numbers[1], 1 / (1 + std::exp(-4.0)), 1e-3,
                   is_near(numbers[1], 1 / (1 + std::exp(2.0)), 1e-3)
                       ? "that is the second fraction; the first one is larger than one half"
                       : "compute exp(2) / (exp(2) + exp(-2))");
  }
  const auto right =
      std::count_if(all.begin(), all.end(), [](const Card& c) { return c.is_right; });
  to.conclude(formatted("All cards are answered. %d of the 6 statements are right.",
                        static_cast<int>(right)));
}

}  // namespace

Exercise find_the_slip() {
  return {
      "17_find_the_slip",
      "Six cards: right, or a slip?",
      "notes 000 to 004",
      grade_find_the_slip,
      {"Card 1: which vector has the numbers 0.1, 0.2, 0.3? Card 3: key a has the larger score. "
       "Can its weight be less than one half?",
       "Card 2: how many numbers does c have, and how many v_a? Card 4: exercise 10 has the "
       "answer. Card 5: which vectors can be added?",
       "Three of the six are right: two of them look wrong. Card 6 is about scores, and says "
       "nothing of weights."}};
}

}  // namespace exercises
