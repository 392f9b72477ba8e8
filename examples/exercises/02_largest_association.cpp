// Exercise 2. The largest association
//
// The vectors, the row of 'walk' and the association v3'.v1 are those of
// exercise 1:
//    v1 = (0.1, 0.2, 0.3)   v2 = (-0.8, 0.3, -0.1)   v3 = (0.5, -0.1, -0.4).
// The note raises the association from -0.09 to 0.043. Its row (0.6, 0.1, 0.4)
// adds up to 1.1, so it is not legal.
// How large can v3'.v1 become with a legal row? In a legal row each weight is 0
// or more, and the weights add up to 1. Give that row, and the number that it
// reaches. Both must be right to nine decimals.
// Lesson attention/08_what_can_be_raised prepares this.
#include "examples/exercises/exercise.h"

namespace exercises {

Row nearest_row() {
  return {FILL,   // the weight of 'birds'
          FILL,   // of 'sometimes'
          FILL};  // of 'walk'
}

double largest_product() { return FILL; }

}  // namespace exercises
