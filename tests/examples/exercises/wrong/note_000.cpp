// Exercises 1 to 4.
#include "tests/examples/exercises/wrong/wrong.h"

namespace exercises {

Row forgetting_row() {
  return chosen<Row>({{0, 0.5, 0.5},         // no weight on 'birds'
                      {0.6, 0.1, 0.4},       // the row of the note, which sums to 1.1
                      {1, 0},                // two numbers
                      {0.3913, 0, 0.6087},   // rounded
                      {9 / 23, 14 / 37, 0},  // between whole numbers: 0
                      {NAN, 0, 1},           // another NaN than FILL
                      {1e200, 0, 0}});
}

Row nearest_row() { return chosen<Row>({{0.6, 0.1, 0.3}, {2, 0, -1}, {1, 0, 0}}); }

double largest_product() { return chosen<double>({0.052, 0.37, 0.43}); }

double product_with_sometimes() { return chosen<double>({-0.39, -0.112 / 1.1, INFINITY}); }

Row control_row() { return chosen<Row>({{1, 0, 0}, {0, 1, 0}}); }

double gradient_of_score(const ScoredWord& word) {
  return chosen<double>({word.weight * word.product,                    // the mixture is missing
                         word.product - word.mixture,                   // the weight is missing
                         -word.weight * (word.product - word.mixture),  // descent
                         word.weight * (1 - word.weight) * word.product});  // a_j alone
}

}  // namespace exercises
