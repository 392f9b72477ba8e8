// Exercise 9. 'bird' looks at 'blue'
//
// Each word of 'the fluffy blue bird' is a row of four numbers. They tell if
// the word is a noun, is an adjective, means something soft, means blue:
//    the     0 0 0 0        fluffy  0 1 1 0
//    blue    0 1 0 1        bird    1 0 0 0
// The query of a word is its row times W_Q, its key is its row times W_K. Here
// the head has the size 1: a query and a key are one number each, and W_Q and
// W_K are columns of four numbers. The score of two words is query times key,
// and a softmax of the scores gives the row of weights of 'bird', over all four
// words.
// Choose W_Q and W_K so that 'bird' gives 'blue' a weight of more than 0.9, and
// 'fluffy' less than 0.05.
// Lesson attention/03_one_head prepares this.
#include "examples/exercises/exercise.h"

namespace exercises {

// W_Q
Matrix bird_query_matrix() {
  return {{FILL},   // noun
          {FILL},   // adjective
          {FILL},   // soft
          {FILL}};  // blue
}

// W_K
Matrix bird_key_matrix() {
  return {{FILL},   // noun
          {FILL},   // adjective
          {FILL},   // soft
          {FILL}};  // blue
}

}  // namespace exercises
