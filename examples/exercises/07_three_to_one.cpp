// Exercise 7. Weights of three to one.  The question: make exercises N=7
#include "examples/exercises/exercise.h"

Row exercises::three_to_one_query() {
  return along_keys({FILL, FILL, FILL, FILL});  // c1 to c4
}
