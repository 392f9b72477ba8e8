// Exercise 14. Scores that one matrix cannot make
//
// In the game of rock, paper and scissors each player must look at the one that
// it beats: rock at scissors, paper at rock, scissors at paper.
// The embeddings are (1, 0, 0), (0, 1, 0) and (0, 0, 1), so row i of W_Q is the
// query of player i, and row j of W_K is the key of player j. The score of
// player i for player j is S_ij = q_i.k_j, and a softmax along each row of S
// gives the weights.
// Tied matrices, W_Q = W_K, give symmetric scores: S_ij = S_ji. The game needs
// others. Choose W_Q and W_K so that each player gives the one it beats a
// weight of more than 0.9.
// Lesson attention/09_why_q_and_k prepares this.
#include "examples/exercises/exercise.h"

namespace exercises {

// W_Q
Matrix game_query_matrix() {
  return {{FILL, FILL, FILL},   // rock
          {FILL, FILL, FILL},   // paper
          {FILL, FILL, FILL}};  // scissors
}

// W_K
Matrix game_key_matrix() {
  return {{FILL, FILL, FILL},   // rock
          {FILL, FILL, FILL},   // paper
          {FILL, FILL, FILL}};  // scissors
}

}  // namespace exercises
