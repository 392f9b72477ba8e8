#include "examples/exercises/exercise.h"

namespace exercises {

double gradient_of_score(const ScoredWord& word) {
  return word.weight * (word.product - word.mixture);
}

}  // namespace exercises
