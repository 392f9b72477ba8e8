// Exercise 16. A wrong rule, to find and to mend
//
// An op is a function of arrays whose gradient the engine can compute. This op
// makes weights of attention from a table of scores. Each row has one query:
//    y = softmax(beta s), along each row.
// The rule of an op computes the gradient of its input from the gradient of its
// result. Here it makes ds, of the scores, from dy, of the weights. By
// mathematics, for row i and key j:
//    ds_ij = beta y_ij (dy_ij - (sum over k of dy_ik y_ik)).
// Four lines have a number. One of them is wrong. The program runs gradcheck()
// and prints its report. gradcheck() compares the rule with the true derivative
// by two independent checks: dual numbers and finite differences. In the
// report, input 0[1, 2] is the score of query 1, key 2, counted from 0.
// Give the number of the wrong line, then change this line so that the check
// passes. sum_over(x, axes) adds along each axis of a list of axes. Axis 0 goes
// from row to row, and axis 1 goes along a row. The list std::array{0} has axis
// 0 alone. The result keeps the axis, with size 1.
// Lesson engine/03_gradient_check prepares this.
#include <array>

#include "engine/array_math.h"
#include "engine/autograd.h"
#include "engine/ops.h"
#include "examples/exercises/rule.h"

namespace exercises {

double wrong_line() { return FILL; }

fledge::Tensor sharpened_weights(const fledge::Tensor& s, double beta) {
  using fledge::Array, fledge::Real;
  const Array y = softmax(s.value() * Real(beta)).value();  // line 1
  return record("sharpened_weights", y, wrt(s, [=](const Array& dy) {
                  const Array mean = sum_over(dy * y, std::array{0, 1});  // line 2
                  const Array ds = y * (dy - mean);                       // line 3
                  return ds * Real(beta);                                 // line 4
                }));
}

}  // namespace exercises
