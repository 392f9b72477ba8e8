#include "examples/exercises/exercise.h"

namespace exercises {

Matrix plumbing_query_matrix() { return {{0, 0, 0, 0}, {0, 0, 0, 0}, {2, 0, 0, 0}}; }

Matrix plumbing_key_matrix() {
  return {{std::log(11.0), 0, 0, 0}, {std::log(8.0), 0, 0, 0}, {0, 0, 0, 0}};
}

}  // namespace exercises
