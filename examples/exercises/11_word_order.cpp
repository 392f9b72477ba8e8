// Exercise 11. What attention knows of word order
//
// Embeddings usually hold the position of a word too. Here they do not: a word
// has the same vector x at each place. There is no mask, so each word looks at
// all words, later ones too. Attention computes the new vector of 'bites':
//    sum over all words j of exp(q.k_j) v_j, divided by the sum of exp(q.k_j).
// Here q = x W_Q belongs to 'bites'; k_j = x_j W_K and v_j = x_j W_V to word j.
// Which sentences give 'bites' the same vector as 'dog bites man', for every
// choice of W_Q, W_K and W_V? Answer 1 for the same vector, 0 for another one.
// In the last sentence both words 'bites' get the same vector: compare either
// of them.
// Lesson attention/06_positions prepares this.
#include "examples/exercises/exercise.h"

namespace exercises {

Row same_vector_of_bites() {
  return {FILL,   // 'man bites dog'
          FILL,   // 'bites man dog'
          FILL,   // 'dog bites dog'
          FILL,   // 'dog dog bites man'
          FILL};  // 'dog bites man dog bites man'
}

}  // namespace exercises
