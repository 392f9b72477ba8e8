#include "examples/exercises/exercise.h"

namespace exercises {

Matrix plumbing_value_matrix() { return {{2, 0, 0}, {0, 1, 0}, {0, 0, 0}}; }

}  // namespace exercises
