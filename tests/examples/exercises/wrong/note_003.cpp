// Exercises 12 and 13.
#include "tests/examples/exercises/wrong/wrong.h"

namespace exercises {

Matrix plumbing_query_matrix() {
  return {{0, 0, 0, 0}, {0, 0, 0, 0}, {1, 0, 0, 0}};  // forgets the root
}

Matrix plumbing_key_matrix() {
  const double dirty = chosen<double>({std::log(11.0), 2 * 0.55, 4 * std::log(11.0), 2000}),
               quantum = chosen<double>({std::log(8.0), 2 * 0.4, 4 * std::log(8.0), 0}),
               plumbing = chosen<double>({0, 2 * 0.05, 0, 0});  // 1: the weights themselves
  return {{dirty, 0, 0, 0}, {quantum, 0, 0, 0}, {plumbing, 0, 0, 0}};
}

Matrix plumbing_value_matrix() {
  return chosen<Matrix>({{{2, 0, 0}, {0, 1, 0}, {0, 0, 20}},  // forgets the residual
                         {{0, 0, 0}, {0, 0, 0}, {0, 0, 0}},
                         {{2, 0, 0}, {0, 1, 0}},
                         {{2, 0, 0}, {0, 2, 0}, {0, 0, 0}}});  // V_1 is wrong
}

}  // namespace exercises
