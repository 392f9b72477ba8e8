// The four keys and values of exercises 5 to 7, and what a query makes of them.
#pragma once

#include "examples/exercises/graders/grading.h"

namespace exercises {

/// Orthonormal: each has the length 1, and two different ones have the product 0.
Matrix four_keys();
Matrix four_values();

struct Look {
  Row scores, weights, result;
};

/// The scores k_j·q, their softmax, and c = Σ_j a_j·v_j; shown as a table.
Look show_look(Grading& to, const Row& query);

}  // namespace exercises
