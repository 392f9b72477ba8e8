// Exercises 5 to 8.
#include "tests/examples/exercises/wrong/wrong.h"

namespace exercises {

Row copying_query() {
  return chosen<Row>({{0.5, -0.5, 0.5, -0.5},  // k_2, which is too short
                      {10, 10, 10, 10},        // along k_1
                      {10, -10, 10}});         // three numbers
}

Row averaging_query() {
  return chosen<Row>({{1, 0, 0, 1},    // k_1 + k_4, too short
                      {15, 5, 5, 15},  // 20 k_1 + 10 k_4
                      {0, 0, 0, 0}});  // an even share of all four
}

Row three_to_one_query() {
  return chosen<Row>({along_keys({30, 10, 0, 0}),            // scores of three to one
                      along_keys({std::log(3.0), 0, 0, 0}),  // ln 3, and the others too near
                      along_keys({10, 10})});
}

double deviation_of_key(double alpha) {
  return chosen<double>({alpha, alpha / 2, -std::sqrt(alpha)});
}

}  // namespace exercises
