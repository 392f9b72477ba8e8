#include "examples/exercises/exercise.h"

namespace exercises {

Row same_vector_of_bites() { return {1, 1, 0, 0, 1}; }

}  // namespace exercises
