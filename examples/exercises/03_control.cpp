// Exercise 3. The control: 'sometimes'.  The question: make exercises N=3
#include "examples/exercises/exercise.h"

double exercises::product_with_sometimes() { return FILL; }

Row exercises::control_row() {
  return {FILL, FILL, FILL};  // the weights of 'birds', 'sometimes' and 'walk'
}
