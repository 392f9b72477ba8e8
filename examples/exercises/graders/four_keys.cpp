#include "examples/exercises/graders/four_keys.h"

#include <algorithm>
#include <cmath>

#include "examples/exercises/graders/numbers.h"
#include "examples/support/table.h"

namespace exercises {

using support::formatted;

Matrix four_keys() {
  return {
      {0.5, 0.5, 0.5, 0.5}, {0.5, -0.5, 0.5, -0.5}, {0.5, 0.5, -0.5, -0.5}, {0.5, -0.5, -0.5, 0.5}};
}

Matrix four_values() { return {{1, 0}, {0, 1}, {-1, 0}, {0, -1}}; }

Row along_keys(const Row& c) {
  const bool is_finite =
      std::all_of(c.begin(), c.end(), [](double number) { return std::isfinite(number); });
  return c.size() == 4 && is_finite ? mixture(c, four_keys()) : c;  // the grader refuses others
}

Look show_look(Grading& to, const Row& query) {
  Look look;
  for (const Row& key : four_keys()) look.scores.push_back(dot(key, query));
  look.weights = softmax_of(look.scores);
  look.result = mixture(look.weights, four_values());
  support::Table table(
      {{"key"}, {"score k_j.q", support::Table::Align::right}, {"weight a_j"}, {"value v_j"}});
  for (std::size_t j = 0; j < 4; ++j)
    table.row({"k_" + std::to_string(j + 1), with_decimals(look.scores[j]),
               formatted("%.6f", look.weights[j]), text_of(four_values()[j])});
  to.show(table.text());
  to.say("c = (" + with_decimals(look.result[0], 6) + ", " + with_decimals(look.result[1], 6) +
         ")\n");
  return look;
}

}  // namespace exercises
