// Exercise 1. A row that forgets 'birds'
//
// The words 'birds', 'sometimes' and 'walk' have the value vectors
//    v1 = (0.1, 0.2, 0.3)   v2 = (-0.8, 0.3, -0.1)   v3 = (0.5, -0.1, -0.4).
// A row of attention has a weight for each word. With the row (a1, a2, a3) of
// 'walk', attention computes a new vector of 'walk':
//    v3' = a1 v1 + a2 v2 + a3 v3.
// The association of 'walk' with 'birds' is the dot product v3'.v1: multiply
// number by number, then add. A legal weight is 0 or more. A row is legal if
// its weights are legal and add up to 1: a softmax gives only such rows.
// Find a legal row for which v3'.v1 is 0, to nine decimals. There are many.
// Lesson attention/02_worked_example prepares this.
#include "examples/exercises/exercise.h"

namespace exercises {

Row forgetting_row() {
  return {FILL,   // a1, the weight of 'birds'
          FILL,   // a2, of 'sometimes'
          FILL};  // a3, of 'walk'
}

}  // namespace exercises
