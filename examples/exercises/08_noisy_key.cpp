// Exercise 8. How far a noisy key is from its mean.  The question: make exercises N=8
#include "examples/exercises/exercise.h"

double exercises::deviation_of_key([[maybe_unused]] double alpha) { return FILL; }
