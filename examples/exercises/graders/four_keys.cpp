#include "examples/exercises/graders/four_keys.h"

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
  return c.size() == 4 ? mixture(c, four_keys()) : c;  // the grader refuses another length
}

Look show_look(Grading& to, const Row& query) {
  Look look;
  for (const Row& key : four_keys()) look.scores.push_back(dot(key, query));
  look.weights = softmax_of(look.scores);
  look.result = mixture(look.weights, four_values());
  support::Table table({{"key"}, {"score k_j.q"}, {"weight a_j"}, {"value v_j"}});
  for (std::size_t j = 0; j < 4; ++j)
    table.row({"k_" + std::to_string(j + 1), formatted("%7.4f", look.scores[j]),
               formatted("%.6f", look.weights[j]), text_of(four_values()[j])});
  to.show(table.text());
  to.say(formatted("c = (%.6f, %.6f)\n", look.result[0], look.result[1]));
  return look;
}

}  // namespace exercises
