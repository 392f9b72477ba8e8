// Exercise 9. 'bird' looks at 'blue'.  The question: make exercises N=9
#include "examples/exercises/exercise.h"

Matrix exercises::bird_query_matrix() {  // W_Q
  return {{FILL},                        // noun
          {FILL},                        // adjective
          {FILL},                        // soft
          {FILL}};                       // blue
}

Matrix exercises::bird_key_matrix() {  // W_K
  return {{FILL},                      // noun
          {FILL},                      // adjective
          {FILL},                      // soft
          {FILL}};                     // blue
}
