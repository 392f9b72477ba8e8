#include "examples/exercises/exercise.h"

namespace exercises {

Matrix bird_query_matrix() { return {{5}, {0}, {0}, {0}}; }

Matrix bird_key_matrix() { return {{0}, {0}, {0}, {1}}; }

}  // namespace exercises
