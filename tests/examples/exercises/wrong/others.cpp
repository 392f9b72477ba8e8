// Exercises 16 and 17.
#include <array>

#include "engine/array_math.h"
#include "engine/autograd.h"
#include "engine/ops.h"
#include "examples/exercises/rule.h"
#include "tests/examples/exercises/wrong/wrong.h"

namespace exercises {

double wrong_line() { return chosen<double>({2, 4, 2, 2, 7}); }

// Of the variants, 0 leaves the rule as it is, 1 finds no slip, 2 changes the value of the op, and 3
// adds along the wrong axis.
fledge::Tensor sharpened_weights(const fledge::Tensor& s, double beta) {
  using fledge::Array, fledge::Real;
  const int variant = chosen<int>({0, 1, 2, 3});
  const Array y = softmax(s.value() * Real(variant == 2 ? 1 : beta)).value();
  return record("sharpened_weights", y, wrt(s, [=](const Array& dy) {
                  const Array mean = variant == 3   ? sum_over(dy * y, std::array{0})
                                     : variant == 2 ? sum_over(dy * y, std::array{1})
                                                    : sum_over(dy * y, std::array{0, 1});
                  return y * (dy - mean) * Real(variant == 2 ? 1 : beta);
                }));
}

Row card_answers() {
  return chosen<Row>({{RIGHT, SLIP, RIGHT, SLIP, RIGHT, SLIP},
                      {SLIP, RIGHT, SLIP, RIGHT, SLIP, RIGHT},
                      {2, RIGHT, SLIP, RIGHT, SLIP, RIGHT}});
}

Row card_numbers() { return chosen<Row>({{0.043, 1 / (1 + std::exp(2.0))}, {0.075, 0.9}}); }

}  // namespace exercises
