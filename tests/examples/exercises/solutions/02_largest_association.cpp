#include "examples/exercises/exercise.h"

namespace exercises {

Row nearest_row() { return {1, 0, 0}; }

double largest_product() { return 0.14; }

}  // namespace exercises
