#include "examples/exercises/exercise.h"

namespace exercises {

Row forgetting_row() { return {0.09 / 0.23, 0, 0.14 / 0.23}; }

}  // namespace exercises
