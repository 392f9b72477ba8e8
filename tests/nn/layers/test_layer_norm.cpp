#include "nn/layers/layer_norm.h"

#include "tests/nn/modules.h"
#include "tests/support/catch.h"
#include "tests/support/refusal.h"

using namespace tests;

TEST_CASE("LayerNorm: gain starts at 1 and bias at 0") {
  const LayerNorm norm(3);
  CHECK(same_bits(norm.weight.value(), Array::ones({3})));
  CHECK(same_bits(norm.bias.value(), Array::zeros({3})));
  CHECK(norm.eps == 1e-5);
  CHECK(LayerNorm(3, 1e-3).eps == 1e-3);
}

// x = (1, 3): mean 2, variance 1, so x̂ = ±1/√(1 + eps); eps = 3 makes that ±½ exactly.
TEST_CASE("LayerNorm: y = weight·x̂ + bias with eps under the root, by hand") {
  const LayerNorm norm(2, 3);
  assign(norm.weight, Array({2}, {4, 6}));
  assign(norm.bias, Array({2}, {10, 20}));
  const Tensor x = parameter(Array({1, 2}, {1, 3}));
  const Tensor y = norm(x);
  CHECK(same_bits(y.value(), Array({1, 2}, {8, 23})));
  // dy = (1, 2): g = dy·weight = (4, 12), mean g = 8, mean(g·x̂) = (−2 + 6)/2 = 2
  // dx = ½·(g − 8 − x̂·2) = ½·(−4 + 1, 4 − 1)
  backward(y, Array({1, 2}, {1, 2}));
  CHECK(same_bits(x.grad(), Array({1, 2}, {-1.5, 1.5})));
  CHECK(same_bits(norm.weight.grad(), Array({2}, {-0.5, 1})));
  CHECK(same_bits(norm.bias.grad(), Array({2}, {1, 2})));
}

TEST_CASE("LayerNorm: rows come out with mean 0 and variance 1, whatever their size and place") {
  const LayerNorm norm(64);
  const Array y = norm(uniform({2, 3, 64}, 1, 50, 250)).value();
  for (Dim row = 0; row < 6; ++row) {
    double total = 0, squares = 0;
    for (Dim c = 0; c < 64; ++c) {
      const double v = value_of(y[row * 64 + c]);
      total += v, squares += v * v;
    }
    CHECK_THAT(total / 64, WithinAbs(0, rounding));
    CHECK_THAT(squares / 64, WithinAbs(1, 10 * rounding + 1e-8));  // eps/variance is 1e-5/3000
  }
}

TEST_CASE("LayerNorm: the gradient is orthogonal to (1, …, 1) and, but for eps, to the row") {
  const LayerNorm norm(16);
  redraw(norm, 3);
  const Tensor x = parameter(uniform({5, 16}, 1, 10, 20));
  pull_random(norm, norm(x));
  for (Dim row = 0; row < 5; ++row) {
    double along_ones = 0, along_row = 0, size = 0;
    for (Dim c = row * 16; c < (row + 1) * 16; ++c) {
      const double dx = value_of(x.grad()[c]);
      along_ones += dx;
      along_row += dx * value_of(x.value()[c]);
      size += std::abs(dx);
    }
    REQUIRE(size > 0.01);
    CHECK_THAT(along_ones / size, WithinAbs(0, rounding));
    CHECK_THAT(along_row / size, WithinAbs(0, 20 * rounding + 1e-5));
  }
}

TEST_CASE("LayerNorm: every parameter has a gradient, and changes the output when it changes") {
  const LayerNorm norm(4);
  redraw(norm, 2);
  const Tensor x = uniform({3, 4}, 1);
  CHECK(idle_numbers(norm, [&] { return norm(x); }).empty());
}

TEST_CASE("LayerNorm: a row's result depends on that row alone, to the bit") {
  const LayerNorm norm(19);
  redraw(norm, 2);
  const Array x = uniform({5, 19}, 1), y = norm(x).value();
  for (Dim row = 0; row < 5; ++row)
    CHECK(same_bits(norm(part(x, 0, row, row + 1)).value(), part(y, 0, row, row + 1)));
}

TEST_CASE("LayerNorm: what does not fit is refused") {
  CHECK(refusal<ValueError>([] { LayerNorm(0); }) ==
        "LayerNorm: the width must be positive: got 0");
  CHECK(refusal<ValueError>([] { LayerNorm(-2); }) ==
        "LayerNorm: the width must be positive: got -2");
  const LayerNorm norm(3);
  CHECK_THROWS_AS(norm(Array::zeros({2, 4})), ShapeError);
  CHECK_THROWS_AS(norm(Array::zeros({})), ShapeError);
}
