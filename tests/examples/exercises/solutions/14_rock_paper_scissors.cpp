#include "examples/exercises/exercise.h"

namespace exercises {

Matrix game_query_matrix() { return {{5, 0, 0}, {0, 5, 0}, {0, 0, 5}}; }

Matrix game_key_matrix() { return {{0, 1, 0}, {0, 0, 1}, {1, 0, 0}}; }

}  // namespace exercises
