// Exercises 5 to 8.
#include "tests/examples/exercises/wrong/wrong.h"

namespace exercises {

Row copying_query() {
  return chosen<Row>({{0.5, -0.5, 0.5, -0.5},  // k_2, which is too short
                      {10, 10, 10, 10},        // along k_1
                      {10, -10, 10},           // three numbers
                      {1e200, -1e200, 1e200, -1e200},
                      {2000, -2000, 2000, -2000}});  // right, and exp(-4000) is 0 in double
}

Row averaging_query() {
  return chosen<Row>({{1, 0, 0, 1},    // k_1 + k_4, too short
                      {15, 5, 5, 15},  // 20 k_1 + 10 k_4
                      {0, 0, 0, 0},    // an even share of all four
                      {2000, 2000, 2000, 2000},
                      {12, -9, 12, 9}});  // scores 12, 12, -9 and 9
}

Row three_to_one_query() {
  return chosen<Row>({along_keys({30, 10, 0, 0}),            // scores of three to one
                      along_keys({std::log(3.0), 0, 0, 0}),  // ln 3, and the others too near
                      along_keys({10, 10}), along_keys({INFINITY, 0, 0, 0}),
                      along_keys({NAN, 10, 0, 0}), along_keys({2000, 10, 0, 0})});
}

double deviation_of_key(double alpha) {
  return chosen<double>({alpha, alpha / 2, -std::sqrt(alpha)});
}

}  // namespace exercises
