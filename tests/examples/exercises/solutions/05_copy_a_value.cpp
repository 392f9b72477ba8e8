#include "examples/exercises/exercise.h"

namespace exercises {

Row copying_query() { return {10, -10, 10, -10}; }

}  // namespace exercises
