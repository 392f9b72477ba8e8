// Exercise 13. What the residual adds
//
// 'plumbing' looks at 'dirty', 'quantum' and itself with the weights
// (0.55, 0.4, 0.05). The value of word j is V_j = E_j M_V, its row times the
// value matrix. Attention gives the change
//    dE_2 = 0.55 V_0 + 0.4 V_1 + 0.05 V_2.
// The residual connection adds it to the vector that 'plumbing' had:
//    E'_2 = E_2 + dE_2.
// The embeddings are E_0 = (1, 0, 0), E_1 = (0, 1, 0) and E_2 = (0, 0, 1), so
// row j of M_V is V_j. (The note has columns; rows are its transpose.)
// Choose M_V so that E'_2 is (1.1, 0.4, 1), to nine decimals.
// Lesson attention/13_residual_and_block prepares this.
#include "examples/exercises/exercise.h"

namespace exercises {

// M_V
Matrix plumbing_value_matrix() {
  return {{FILL, FILL, FILL},   // V_0, of 'dirty'
          {FILL, FILL, FILL},   // V_1, of 'quantum'
          {FILL, FILL, FILL}};  // V_2, of 'plumbing'
}

}  // namespace exercises
