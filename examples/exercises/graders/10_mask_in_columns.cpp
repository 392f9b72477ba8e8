#include <cmath>

#include "examples/exercises/graders/exercise_list.h"
#include "examples/exercises/graders/numbers.h"
#include "examples/support/table.h"

namespace exercises {

using support::formatted;

namespace {

/// The first place that is wrong, as a sentence; empty if all are right.
std::string wrong_place(const Matrix& hidden) {
  for (int row = 0; row < 4; ++row)
    for (int column = 0; column < 4; ++column) {
      const bool is_later = row > column;  // the key comes after the query
      if ((hidden[static_cast<std::size_t>(row)][static_cast<std::size_t>(column)] == 1) ==
          is_later)
        continue;
      return is_later ? formatted("query %d sees key %d, which is later: hide row %d, column %d",
                                  column, row, row, column)
                      : formatted(
                            "you hide key %d from query %d, but it is not later: do not hide row "
                            "%d, column %d",
                            row, column, row, column);
    }
  return "";
}

/// Weights in the note's form: queries in columns, a softmax along each column.
Matrix weights_in_columns(const fledge::Tensor& scores, const Matrix& hidden) {
  const fledge::Tensor shares = exp(transpose(scores)) * (1.0 - tensor(hidden));
  return matrix_of(transpose(shares / sum(shares, {0}, true)));
}

void grade_mask_in_columns(Grading& to) {
  Matrix hidden;
  support::Table table({{""}, {"query 0"}, {"query 1"}, {"query 2"}, {"query 3"}});
  for (int row = 0; row < 4; ++row) {
    hidden.emplace_back();
    std::vector<std::string> cells{"key " + std::to_string(row)};
    for (int column = 0; column < 4; ++column) {
      const double answer = is_hidden(row, column);
      hidden.back().push_back(answer);
      if (answer != 0 && answer != 1) {
        const std::string place = formatted(" answer for row %d, column %d", row, column);
        if (!std::isnan(answer))
          to.refuse("Your" + place + formatted(" is %g: answer 1 for hidden, 0 for seen.", answer));
        else
          to.accept("your" + place, answer);
        return;
      }
      cells.emplace_back(answer == 1 ? "hidden" : "seen");
    }
    table.row(cells);
  }
  to.say("Your table:");
  to.show(table.text());
  const std::string wrong = wrong_place(hidden);
  to.claim(wrong.empty(), "no query looks at a later key, and each looks at all others", wrong);
  fledge::Rng rng(1);
  const fledge::Tensor scores = fledge::random_normal({4, 4}, 0, 1, rng);
  const double apart =
      farthest(weights_in_columns(scores, hidden), matrix_of(softmax(scores, fledge::causal())));
  to.claim(apart <= 1e-12,
           "with random scores, your mask gives the same weights as fledge's (rows and columns "
           "exchanged)",
           "some weights differ from those of fledge");
  to.conclude(
      "In the note's form the mask lies below the diagonal, as the note says. In rows it lies above. "
      "Both hide the same pairs of words.");
}

}  // namespace

Exercise mask_in_columns() {
  return {
      "10_mask_in_columns",
      "The mask when queries are columns",
      "note 002",
      grade_mask_in_columns,
      {"In this table the place (row, column) belongs to the key with the number row and the query "
       "with the number column.",
       "A place is hidden if the key is later than the query. Which of the two numbers is then "
       "the larger one?",
       "The key is later if row > column. A comparison in C++ is 1 if it holds, else 0."}};
}

}  // namespace exercises
