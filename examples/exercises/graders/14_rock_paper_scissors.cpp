#include <algorithm>
#include <cmath>

#include "examples/exercises/graders/exercise_list.h"
#include "examples/exercises/graders/numbers.h"
#include "examples/support/table.h"

namespace exercises {

using support::formatted;

namespace {

const char* const players[] = {"rock", "paper", "scissors"};
constexpr std::size_t beaten[] = {2, 0, 1};

/// How many players look at the one they beat more than at each of the others.
int count_right(const Matrix& weights) {
  int count = 0;
  for (std::size_t i = 0; i < 3; ++i) {
    bool right = true;
    for (std::size_t j = 0; j < 3; ++j)
      right = right && (j == beaten[i] || weights[i][j] < weights[i][beaten[i]]);
    count += right ? 1 : 0;
  }
  return count;
}

/// Whether each player looks mostly at the one that beats it.
bool is_reversed(const Matrix& weights) {
  bool reversed = true;
  for (std::size_t i = 0; i < 3; ++i) {
    const std::size_t winner = 3 - i - beaten[i];
    for (std::size_t j = 0; j < 3; ++j)
      reversed = reversed && (j == winner || weights[i][j] < weights[i][winner]);
  }
  return reversed;
}

/// What the weights do, if one of the players gives the one it beats too little.
std::string wrong_players(const Matrix& weights, double least, double largest_score) {
  if (largest_score == 0) return "all scores are 0, so no player prefers anyone";
  if (is_reversed(weights)) return "each looks at the one that beats it";
  const int count = count_right(weights);
  return formatted("%d of 3 players look mostly at the one they beat; the least weight is %.4f",
                   count, least) +
         (count == 3 ? ": make the scores larger" : "");
}

void grade_rock_paper_scissors(Grading& to) {
  const Matrix W_Q = game_query_matrix(), W_K = game_key_matrix();
  const bool has_Q = to.accept("your W_Q", W_Q, 3, 3), has_K = to.accept("your W_K", W_K, 3, 3);
  if (!has_Q || !has_K) return;
  const fledge::Tensor S = matmul(tensor(W_Q), transpose(tensor(W_K)));
  const Matrix scores = matrix_of(S), weights = matrix_of(softmax(S));
  support::Table table(
      {{"player"}, {"scores: rock, paper, scissors"}, {"weights"}, {"must look at"}});
  double largest = 0;
  for (const Row& row : scores)
    for (const double score : row) largest = std::max(largest, std::abs(score));
  double least = 1;
  for (std::size_t i = 0; i < 3; ++i) {
    table.row({players[i], rounded(scores[i], largest < 1e4 ? "%.4g" : "%.1g"),
               rounded(weights[i], "%.4f"), players[beaten[i]]});
    least = std::min(least, weights[i][beaten[i]]);
  }
  to.show(table.text());
  const bool symmetric = farthest(scores, matrix_of(transpose(S))) <= 1e-9;
  to.claim(
      !symmetric, "the scores are not symmetric",
      "yours are symmetric, S_ij = S_ji, as those of one matrix: then not all three players look "
      "mostly at the one they beat");
  to.claim(least > 0.9, "each player gives the one it beats more than 0.9",
           wrong_players(weights, least, largest));
  const fledge::Tensor mirrored = (S + transpose(S)) / 2.0;
  to.conclude(
      formatted("The nearest symmetric table is the mean of S and its transpose. With it, %d of 3 "
                "players look mostly at the one they beat. ",
                count_right(matrix_of(softmax(mirrored)))) +
      "The lesson proves that no symmetric table gets all three right. So the game needs two "
      "matrices.");
}

}  // namespace

Exercise rock_paper_scissors() {
  return {
      "14_rock_paper_scissors",
      "Scores that one matrix cannot make",
      "note 004",
      grade_rock_paper_scissors,
      {"Give each player a query of its own, for example one axis each: then S_ij is one number of "
       "the key of player j.",
       "With W_Q = 5 on the diagonal, rock's query is (5, 0, 0). Which player's key must point "
       "along the first axis?",
       "The key of scissors is (1, 0, 0), since rock looks at it. Paper looks at rock, so the key "
       "of rock is (0, 1, 0)."}};
}

}  // namespace exercises
