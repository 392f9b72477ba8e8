#include "examples/exercises/exercise.h"

namespace exercises {

Matrix plumbing_W_Q() { return {{0, 0, 0, 0}, {0, 0, 0, 0}, {2, 0, 0, 0}}; }

Matrix plumbing_W_K() {
  return {{std::log(11.0), 0, 0, 0}, {std::log(8.0), 0, 0, 0}, {0, 0, 0, 0}};
}

}  // namespace exercises
