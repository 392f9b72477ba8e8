// Exercise 11. What attention knows of word order.  The question: make exercises N=11
#include "examples/exercises/exercise.h"

Row exercises::same_vector_of_bites() {
  return {FILL,   // 'man bites dog'
          FILL,   // 'bites man dog'
          FILL,   // 'dog bites dog'
          FILL,   // 'dog dog bites man'
          FILL};  // 'dog bites man dog bites man'
}
