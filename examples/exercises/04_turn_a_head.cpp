// Exercise 4. How a gradient turns a head.  The question: make exercises N=4
#include "examples/exercises/exercise.h"

double exercises::gradient_of_score([[maybe_unused]] const ScoredWord& word) { return FILL; }
