#include "examples/exercises/exercise.h"

namespace exercises {

double smallest_head_size() { return 2; }

Matrix table_queries() { return {{1, 0}, {0, 1}, {1, 1}, {2, -1}}; }

Matrix table_keys() { return {{1, 2}, {0, 1}, {3, 0}, {1, 1}}; }

}  // namespace exercises
