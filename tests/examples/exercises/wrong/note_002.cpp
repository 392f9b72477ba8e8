// Exercises 9 to 11.
#include "tests/examples/exercises/wrong/wrong.h"

namespace exercises {

Matrix bird_query_matrix() {
  return chosen<Matrix>({{{5}, {0}, {0}, {0}},
                         {{1}, {0}, {0}, {0}},
                         {{5}},
                         {{0}, {1}, {1}, {1}},
                         {{5}, {0}, {0}, {0}}});
}

Matrix bird_key_matrix() {
  return chosen<Matrix>({{{0}, {1}, {0}, {0}},  // the key of all adjectives
                         {{0}, {0}, {0}, {1}},  // 'blue', but the score is 1 only
                         {{0}, {0}, {0}, {1}},
                         {{0}, {0}, {0}, {1}},      // with a query of 0
                         {{1}, {0}, {0}, {0.5}}});  // 'bird' finds itself
}

double is_hidden(int row, int column) {
  return chosen<double>({double(row < column),   // the mask for queries in rows
                         double(row >= column),  // a word may not look at itself
                         double(row > column) * 2, row > column ? -INFINITY : 0});
}

Row same_vector_of_bites() {
  return chosen<Row>({{1, 1, 0, 0, 0}, {0, 0, 0, 0, 0}, {1, 1, 0, 1, 1}, {1, 1, 0.5, 0, 1}});
}

}  // namespace exercises
