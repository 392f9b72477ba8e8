#include "examples/exercises/exercise.h"

namespace exercises {

Row averaging_query() { return {10, 0, 0, 10}; }

}  // namespace exercises
