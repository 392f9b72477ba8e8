#include "examples/exercises/exercise.h"

namespace exercises {

Matrix bird_W_Q() { return {{5}, {0}, {0}, {0}}; }

Matrix bird_W_K() { return {{0}, {0}, {0}, {1}}; }

}  // namespace exercises
