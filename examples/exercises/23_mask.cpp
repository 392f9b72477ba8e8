// Exercise 23. The mask.  The question: make exercises N=23
#include "engine/ops.h"
#include "examples/exercises/exercise.h"

// 1 if word `query` sees word `key`, else 0. sentence[i] is the number of the sentence of word i.
double exercises::is_seen([[maybe_unused]] const std::vector<int>& sentence,
                          [[maybe_unused]] std::size_t query, [[maybe_unused]] std::size_t key) {
  return FILL;
}

// scores (n, n); seen (n, n): 1 where the score counts, else 0
Tensor exercises::masked_weights([[maybe_unused]] const Tensor& scores,
                                 [[maybe_unused]] const Tensor& seen) {
  return FILL;
}
