#include <cmath>

#include "examples/exercises/graders/exercise_list.h"
#include "examples/exercises/graders/numbers.h"
#include "examples/support/table.h"

namespace exercises {

using support::formatted;

namespace {

/// What is wrong with the row that the products q.k_j give.
std::string wrong_row(const Row& products, const Row& wanted, const Row& weights) {
  Row quarters;
  for (const double product : products) quarters.push_back(product / 4);
  if (farthest({softmax_of(products)}, {wanted}) <= 1e-3)
    return "without the division by sqrt(4) = 2 the row would be right: make the products twice as "
           "large";
  if (farthest({softmax_of(quarters)}, {wanted}) <= 1e-3)
    return "the differences of the scores are twice too large: halve the query or the keys";
  if (weights[2] < 1e-9) return "the weight of 'plumbing' is almost 0, and must be 0.05";
  return formatted(
      "the ratios of your weights are %.4g and %.4g; they must be 0.55/0.05 = 11 and 0.4/0.05 = 8",
      weights[0] / weights[2], weights[1] / weights[2]);
}

void grade_row_by_hand(Grading& to) {
  const Matrix W_Q = plumbing_query_matrix(), W_K = plumbing_key_matrix();
  const bool has_Q = to.accept("your W_Q", W_Q, 3, 4), has_K = to.accept("your W_K", W_K, 3, 4);
  if (!has_Q || !has_K) return;
  const fledge::Tensor E = tensor({{1, 0, 0}, {0, 1, 0}, {0, 0, 1}});
  const fledge::Tensor q = matmul(E, tensor(W_Q)), k = matmul(E, tensor(W_K));
  const Row weights = matrix_of(softmax(matmul(q, transpose(k)) / 2.0, fledge::causal()))[2];
  const Row wanted{0.55, 0.4, 0.05};
  const char* const words[] = {"dirty", "quantum", "plumbing"};
  support::Table table({{"word"}, {"q.k_j"}, {"q.k_j / 2"}, {"weight"}, {"wanted"}});
  Row scores;
  for (std::size_t j = 0; j < 3; ++j) {
    scores.push_back(dot(matrix_of(q)[2], matrix_of(k)[j]));
    table.row({words[j], formatted("%.6g", scores[j] + 0.0), formatted("%.6g", scores[j] / 2 + 0.0),
               formatted("%.4f", weights[j]), formatted("%.2f", wanted[j])});
  }
  to.show(table.text());
  to.claim(farthest({weights}, {wanted}) <= 1e-3, "the row is (0.55, 0.4, 0.05), within 0.001",
           wrong_row(scores, wanted, weights));
  to.conclude(
      formatted("After the division the scores are ahead of the last one by %.4f and %.4f; ",
                (scores[0] - scores[2]) / 2, (scores[1] - scores[2]) / 2) +
      formatted("ln 11 is %.4f and ln 8 is %.4f. ", std::log(11.0), std::log(8.0)) +
      "Only differences of scores matter, and only the product of query and key: twice the query and "
      "half the keys give the same row.");
}

}  // namespace

Exercise row_by_hand() {
  return {
      "12_row_by_hand",
      "W_Q and W_K for a given row",
      "note 003",
      grade_row_by_hand,
      {"Weights are proportional to exp of the scores. 0.55 is 11 times 0.05, and 0.4 is 8 times "
       "0.05. So what are the differences of the scores?",
       "If 'plumbing' has the score 0, 'dirty' needs ln 11 and 'quantum' ln 8, after the "
       "division by sqrt(4) = 2.",
       "Take the query 2. It undoes the division, so the keys are std::log(11.0), std::log(8.0) "
       "and 0."}};
}

}  // namespace exercises
