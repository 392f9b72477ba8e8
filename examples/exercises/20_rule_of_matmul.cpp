// Exercise 20. The rule of matmul.  The question: make exercises N=20
#include "engine/ops.h"
#include "examples/exercises/exercise.h"

// C = matmul(A, B)      A (n, k)   B (k, m)   C and dC (n, m)

// dA (n, k)
Tensor exercises::gradient_of_a([[maybe_unused]] const Tensor& A, [[maybe_unused]] const Tensor& B,
                                [[maybe_unused]] const Tensor& dC) {
  return FILL;
}

// dB (k, m)
Tensor exercises::gradient_of_b([[maybe_unused]] const Tensor& A, [[maybe_unused]] const Tensor& B,
                                [[maybe_unused]] const Tensor& dC) {
  return FILL;
}
