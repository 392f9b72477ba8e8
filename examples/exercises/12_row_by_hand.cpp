// Exercise 12. W_Q and W_K for a given row.  The question: make exercises N=12
#include "examples/exercises/exercise.h"

Matrix exercises::plumbing_query_matrix() {  // W_Q
  return {{0, 0, 0, 0},                      // 'dirty'
          {0, 0, 0, 0},                      // 'quantum'
          {FILL, 0, 0, 0}};                  // 'plumbing'
}

Matrix exercises::plumbing_key_matrix() {  // W_K
  return {{FILL, 0, 0, 0},                 // 'dirty'
          {FILL, 0, 0, 0},                 // 'quantum'
          {FILL, 0, 0, 0}};                // 'plumbing'
}
