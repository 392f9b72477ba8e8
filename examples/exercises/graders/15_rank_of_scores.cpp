#include <cmath>

#include "examples/exercises/graders/exercise_list.h"
#include "examples/exercises/graders/numbers.h"
#include "examples/support/text.h"

namespace exercises {

using support::formatted;

namespace {

const Matrix wanted_scores{{1, 0, 3, 1}, {2, 1, 0, 1}, {3, 1, 3, 2}, {0, -1, 6, 1}};

/// The rank by elimination: the number of rows that elimination does not turn into zeros.
int rank_of(Matrix rows) {
  int rank = 0;
  for (std::size_t column = 0; column < 4; ++column) {
    std::size_t pivot = static_cast<std::size_t>(rank);
    while (pivot < 4 && std::abs(rows[pivot][column]) < 1e-9) ++pivot;
    if (pivot == 4) continue;
    std::swap(rows[pivot], rows[static_cast<std::size_t>(rank)]);
    const Row& lead = rows[static_cast<std::size_t>(rank)];
    for (std::size_t i = static_cast<std::size_t>(rank) + 1; i < 4; ++i) {
      const double factor = rows[i][column] / lead[column];
      for (std::size_t j = 0; j < 4; ++j) rows[i][j] -= factor * lead[j];
    }
    ++rank;
  }
  return rank;
}

/// The first score that is not that of the exercise, as a sentence.
std::string wrong_score(const Matrix& scores) {
  for (std::size_t i = 0; i < 4; ++i)
    for (std::size_t j = 0; j < 4; ++j)
      if (!is_near(scores[i][j], wanted_scores[i][j], 1e-9))
        return formatted("query %zu with key %zu has the score %.6g, and must have %g", i + 1,
                         j + 1, scores[i][j], wanted_scores[i][j]);
  return "";
}

void grade_rank_of_scores(Grading& to) {
  const double size = smallest_head_size();
  const Matrix queries = table_queries(), keys = table_keys();
  const bool possible = size >= 1 && size <= 4 && size == std::floor(size);
  const bool has_size = to.accept("your D", size);
  if (has_size && !possible) {
    to.claim(false, "D is a whole number from 1 to 4",
             "a query has at least one number, and four always suffice for four keys");
    return;
  }
  if (!has_size) return;
  const auto D = static_cast<std::size_t>(size);
  const bool has_queries = to.accept("your queries", queries, 4, D);
  const bool has_keys = to.accept("your keys", keys, 4, D);
  if (!has_queries || !has_keys) return;
  const Matrix scores = matrix_of(matmul(tensor(queries), transpose(tensor(keys))));
  to.say("\nYour table:");
  for (const Row& row : scores) to.say("   " + text_of(row));
  to.say("");
  const double apart = farthest(scores, wanted_scores);
  const int rank = rank_of(wanted_scores);
  to.claim(
      apart <= 1e-9, "it is the table of the exercise",
      static_cast<int>(D) < rank
          ? formatted("it differs by %.4g: with D = 1 every row is a multiple of one row; here "
                      "they are not",
                      apart)
          : wrong_score(scores));
  to.claim(
      static_cast<int>(D) <= rank, "no smaller D makes the table of the exercise",
      "a smaller D makes it too: row 3 of the table is row 1 plus row 2, and row 4 is twice row "
      "1 minus row 2");
  to.conclude(
      formatted("The rank is the smallest number of rows from which all rows can be made. A row is "
                "made as a sum of multiples of them. Here the rank is %d. ",
                rank) +
      "A head of size D makes tables of rank D at most. With D = 64 and 1024 words, most "
      "tables of scores are out of reach: two matrices do not give 'as much information as "
      "possible'.");
}

}  // namespace

Exercise rank_of_scores() {
  return {
      "15_rank_of_scores",
      "The smallest head for given scores",
      "note 004",
      grade_rank_of_scores,
      {"With D = 1, S_ij is a product of two numbers, so each row is a multiple of one row. Is it "
       "so here?",
       "Compare row 3 with rows 1 and 2. Then compare row 4 with them.",
       "Each row is a sum of multiples of rows 1 and 2. So D = 2. Let key j be (S_1j, S_2j); "
       "queries 1 and 2 are then (1, 0) and (0, 1), and query 3 is (1, 1)."}};
}

}  // namespace exercises
