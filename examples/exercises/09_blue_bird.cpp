// Exercise 9. 'bird' looks at 'blue'.  The question: make exercises N=9
#include "examples/exercises/exercise.h"

// W_Q: the rows of 'noun', 'adjective', 'soft' and 'blue', of one number each.
Matrix exercises::bird_query_matrix() { return {{FILL}, {FILL}, {FILL}, {FILL}}; }

// W_K, with the same rows.
Matrix exercises::bird_key_matrix() { return {{FILL}, {FILL}, {FILL}, {FILL}}; }
