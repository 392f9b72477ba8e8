// Exercise 12. W_Q and W_K for a given row
//
// In 'dirty quantum plumbing' the note lets 'plumbing' look at the three words
// with the weights (0.55, 0.4, 0.05). Find W_Q and W_K that make this row.
// The embeddings are E_0 = (1, 0, 0), E_1 = (0, 1, 0) and E_2 = (0, 0, 1). So
// the query q of 'plumbing' is the last row of W_Q, and the key k_j of word j
// is row j of W_K. The head has the size 4: the weights are the softmax of
//    q.k_j / sqrt(4).
// Only the first number of a query or key is used here; the others are 0.
// The row must be right within 0.001. std::log may be used.
// Lesson attention/13_residual_and_block prepares this.
#include "examples/exercises/exercise.h"

namespace exercises {

// W_Q
Matrix plumbing_query_matrix() {
  return {{0, 0, 0, 0},      // 'dirty'
          {0, 0, 0, 0},      // 'quantum'
          {FILL, 0, 0, 0}};  // 'plumbing'
}

// W_K
Matrix plumbing_key_matrix() {
  return {{FILL, 0, 0, 0},   // 'dirty'
          {FILL, 0, 0, 0},   // 'quantum'
          {FILL, 0, 0, 0}};  // 'plumbing'
}

}  // namespace exercises
