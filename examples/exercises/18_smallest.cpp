// Exercise 18. The smallest model that learns it.  The question: make exercises N=18
#include "examples/exercises/exercise.h"

Row exercises::smallest_model() {
  const double width = FILL;   // how many numbers a word has, 1 to 16
  const double hidden = FILL;  // the hidden size of the MLP, 1 to 64
  const double biases = FILL;  // 1: with, 0: without
  const double rate = FILL;    // the learning rate, 0.001 to 1
  return {width, hidden, biases, rate};
}
