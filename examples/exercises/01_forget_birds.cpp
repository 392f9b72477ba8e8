// Exercise 1. A row that forgets 'birds'.  The question: make exercises N=1
#include "examples/exercises/exercise.h"

Row exercises::forgetting_row() {
  return {FILL, FILL, FILL};  // a1, a2 and a3, the weights of 'birds', 'sometimes' and 'walk'
}
