// Exercises 14 and 15.
#include "tests/examples/exercises/wrong/wrong.h"

namespace exercises {

Matrix game_query_matrix() { return {{5, 0, 0}, {0, 5, 0}, {0, 0, 5}}; }

Matrix game_key_matrix() {
  return chosen<Matrix>({{{5, 0, 0}, {0, 5, 0}, {0, 0, 5}},        // tied
                         {{0, 0, 1}, {1, 0, 0}, {0, 1, 0}},        // looks at the player that wins
                         {{0, 0.2, 0}, {0, 0, 0.2}, {0.2, 0, 0}},  // too small
                         {{0, 0, 0}, {0, 0, 0}, {0, 0, 0}}});
}

double smallest_head_size() { return chosen<double>({4, 1, 2.5, 2, 2}); }

Matrix table_queries() {
  return chosen<Matrix>({{{1, 0, 3, 1}, {2, 1, 0, 1}, {3, 1, 3, 2}, {0, -1, 6, 1}},  // the table
                         {{1}, {2}, {3}, {0}},
                         {{1}, {2}, {3}, {0}},
                         {{1, 0}, {0, 1}, {1, 1}, {1, -1}},
                         {{1}, {2}, {3}, {0}}});
}

Matrix table_keys() {
  return chosen<Matrix>({{{1, 0, 0, 0}, {0, 1, 0, 0}, {0, 0, 1, 0}, {0, 0, 0, 1}},
                         {{1}, {0}, {3}, {1}},
                         {{1}, {0}, {3}, {1}},
                         {{1, 2}, {0, 1}, {3, 0}, {1, 1}}});
}

}  // namespace exercises
