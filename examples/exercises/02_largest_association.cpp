// Exercise 2. The largest association.  The question: make exercises N=2
#include "examples/exercises/exercise.h"

Row exercises::nearest_row() {
  return {FILL, FILL, FILL};  // the weights of 'birds', 'sometimes' and 'walk'
}

double exercises::largest_product() { return FILL; }
