// Exercise 1. A row that forgets 'birds'.  The question: make exercises N=1
#include "examples/exercises/exercise.h"

Row exercises::forgetting_row() {
  return {FILL,   // a1, the weight of 'birds'
          FILL,   // a2, of 'sometimes'
          FILL};  // a3, of 'walk'
}
