#include "examples/exercises/exercise.h"

namespace exercises {

Row card_answers() { return {SLIP, RIGHT, SLIP, RIGHT, SLIP, RIGHT}; }

Row card_numbers() {
  return {0.09 - 0.011 - 0.004, std::exp(2.0) / (std::exp(2.0) + std::exp(-2.0))};
}

}  // namespace exercises
