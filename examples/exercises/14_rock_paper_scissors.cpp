// Exercise 14. Scores that one matrix cannot make.  The question: make exercises N=14
#include "examples/exercises/exercise.h"

Matrix exercises::game_query_matrix() {  // W_Q
  return {{FILL, FILL, FILL},            // rock
          {FILL, FILL, FILL},            // paper
          {FILL, FILL, FILL}};           // scissors
}

Matrix exercises::game_key_matrix() {  // W_K
  return {{FILL, FILL, FILL},          // rock
          {FILL, FILL, FILL},          // paper
          {FILL, FILL, FILL}};         // scissors
}
