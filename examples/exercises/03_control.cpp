// Exercise 3. The control: 'sometimes'
//
// A control is a word that should gain nothing. If it gains too, the gain of
// 'birds' proves less. Here the control is 'sometimes', with the vector v2:
//    v1 = (0.1, 0.2, 0.3)   v2 = (-0.8, 0.3, -0.1)   v3 = (0.5, -0.1, -0.4).
// Before attention v3.v1 is -0.09 and v3.v2 is -0.39. With the row of the note,
// (0.6, 0.1, 0.4), v3' is (0.18, 0.11, 0.01), and v3'.v1 is 0.043.
// First: what is v3'.v2 for this row?
// Second: which legal row makes v3'.v2 largest? In a legal row each weight is 0
// or more, and the weights add up to 1.
// Both answers must be right to nine decimals.
// Lesson attention/02_worked_example prepares this.
#include "examples/exercises/exercise.h"

namespace exercises {

double product_with_sometimes() { return FILL; }

Row control_row() {
  return {FILL,   // the weight of 'birds'
          FILL,   // of 'sometimes'
          FILL};  // of 'walk'
}

}  // namespace exercises
