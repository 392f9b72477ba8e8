// Exercise 12. W_Q and W_K for a given row.  The question: make exercises N=12
#include "examples/exercises/exercise.h"

// W_Q
Matrix exercises::plumbing_query_matrix() {
  return {{0, 0, 0, 0},      // 'dirty'
          {0, 0, 0, 0},      // 'quantum'
          {FILL, 0, 0, 0}};  // 'plumbing'
}

// W_K
Matrix exercises::plumbing_key_matrix() {
  return {{FILL, 0, 0, 0},   // 'dirty'
          {FILL, 0, 0, 0},   // 'quantum'
          {FILL, 0, 0, 0}};  // 'plumbing'
}
