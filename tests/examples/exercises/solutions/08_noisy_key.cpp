#include "examples/exercises/exercise.h"

namespace exercises {

double deviation_of_key(double alpha) { return std::sqrt(alpha); }

}  // namespace exercises
