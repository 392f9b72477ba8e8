// Exercise 14. Scores that one matrix cannot make.  The question: make exercises N=14
#include "examples/exercises/exercise.h"

// W_Q
Matrix exercises::game_query_matrix() {
  return {{FILL, FILL, FILL},   // rock
          {FILL, FILL, FILL},   // paper
          {FILL, FILL, FILL}};  // scissors
}

// W_K
Matrix exercises::game_key_matrix() {
  return {{FILL, FILL, FILL},   // rock
          {FILL, FILL, FILL},   // paper
          {FILL, FILL, FILL}};  // scissors
}
