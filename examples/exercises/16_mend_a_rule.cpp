// Exercise 16. A wrong rule, to find and to mend.  The question: make exercises N=16
#include <array>

#include "engine/array_math.h"
#include "engine/autograd.h"
#include "engine/ops.h"
#include "examples/exercises/exercise.h"

double exercises::wrong_line() { return FILL; }

fledge::Tensor exercises::sharpened_weights(const fledge::Tensor& s, double beta) {
  using fledge::Array, fledge::Real;
  const Array y = softmax(s.value() * Real(beta)).value();  // line 1
  return record("sharpened_weights", y, wrt(s, [=](const Array& dy) {
                  const Array mean = sum_over(dy * y, std::array{0, 1});  // line 2
                  const Array ds = y * (dy - mean);                       // line 3
                  return ds * Real(beta);                                 // line 4
                }));
}
