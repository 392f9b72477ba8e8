#include "nn/layers/mlp.h"

#include "tests/nn/modules.h"
#include "tests/support/catch.h"
#include "tests/support/refusal.h"

using namespace tests;

// One input, hidden (2x − 1, x), one output 3·gelu(h₁) − 2·gelu(h₂) + ½, at x = 1: h = (1, 1).
// gelu(1) = 0.8411919906082768, gelu'(1) = 1.0829640838457826 (tanh form, computed elsewhere).
TEST_CASE("MLP: two layers and a gelu between, by hand") {
  constexpr double gelu = 0.8411919906082768, slope = 1.0829640838457826;
  Rng rng(1);
  const MLP mlp(1, 2, rng);
  assign(mlp.c_fc.weight, Array({1, 2}, {2, 1}));
  assign(mlp.c_fc.bias, Array({2}, {-1, 0}));
  assign(mlp.c_proj.weight, Array({2, 1}, {3, -2}));
  assign(mlp.c_proj.bias, Array({1}, {0.5}));
  const Tensor x = parameter(Array({1, 1}, {1}));
  const Tensor y = mlp(x);
  CHECK(close(y.value(), Array({1, 1}, {gelu + 0.5})));
  backward(y);
  CHECK(close(mlp.c_proj.weight.grad(), Array({2, 1}, {gelu, gelu})));
  CHECK(close(mlp.c_proj.bias.grad(), Array({1}, {1})));
  CHECK(close(mlp.c_fc.weight.grad(), Array({1, 2}, {3 * slope, -2 * slope})));
  CHECK(close(mlp.c_fc.bias.grad(), Array({2}, {3 * slope, -2 * slope})));
  CHECK(close(x.grad(), Array({1, 1}, {2 * 3 * slope - 2 * slope})));
}

TEST_CASE("MLP: is its parts, to the bit") {
  const MLP mlp = drawn<MLP>(1, 5, 9);
  const Tensor x = uniform({2, 3, 5}, 1);
  const Tensor hidden = linear(x, mlp.c_fc.weight, mlp.c_fc.bias);
  const Tensor y = linear(gelu_tanh(hidden), mlp.c_proj.weight, mlp.c_proj.bias);
  CHECK(same_bits(mlp(x).value(), y.value()));
}

TEST_CASE("MLP: with the exact gelu") {
  MLP mlp = drawn<MLP>(1, 5, 9);
  mlp.activation = Activation::gelu;
  const Tensor x = uniform({2, 3, 5}, 1);
  CHECK(same_bits(mlp(x).value(), mlp.c_proj(gelu(mlp.c_fc(x))).value()));
  CHECK_FALSE(same_bits(mlp(x).value(), drawn<MLP>(1, 5, 9)(x).value()));
}

TEST_CASE("MLP: every parameter has a gradient, and changes the output when it changes") {
  const MLP mlp = drawn<MLP>(2, 3, 4);
  const Tensor x = uniform({5, 3}, 1);
  CHECK(idle_numbers(mlp, [&] { return mlp(x); }).empty());
}

TEST_CASE("MLP: permuting hidden units permutes the gradients and leaves the function") {
  const std::vector<Dim> order{3, 0, 4, 1, 2};
  const MLP mlp = drawn<MLP>(3, 3, 5), other = drawn<MLP>(4, 3, 5);
  assign(other.c_fc.weight, reordered(mlp.c_fc.weight.value(), 1, order));
  assign(other.c_fc.bias, reordered(mlp.c_fc.bias.value(), 0, order));
  assign(other.c_proj.weight, reordered(mlp.c_proj.weight.value(), 0, order));
  assign(other.c_proj.bias, mlp.c_proj.bias.value());
  const Tensor x = uniform({4, 3}, 5);
  CHECK(close(other(x).value(), mlp(x).value()));  // the sum over units has another order
  pull_random(mlp, mlp(x));
  pull_random(other, other(x));
  CHECK(close(other.c_fc.weight.grad(), reordered(mlp.c_fc.weight.grad(), 1, order)));
  CHECK(close(other.c_fc.bias.grad(), reordered(mlp.c_fc.bias.grad(), 0, order)));
  CHECK(close(other.c_proj.weight.grad(), reordered(mlp.c_proj.weight.grad(), 0, order)));
  CHECK_FALSE(close(other.c_fc.weight.grad(), mlp.c_fc.weight.grad()));
}

TEST_CASE("MLP: its two layers start with numbers of their own") {
  Rng rng(1), again(1);
  const MLP mlp(4, 4, rng), same(4, 4, again);
  for (Dim i = 0; i < 16; ++i) CHECK(mlp.c_fc.weight.value()[i] != mlp.c_proj.weight.value()[i]);
  CHECK(same_bits(mlp.c_fc.weight.value(), same.c_fc.weight.value()));
  CHECK(same_bits(mlp.c_proj.weight.value(), same.c_proj.weight.value()));
}

TEST_CASE("MLP: what does not fit is refused") {
  Rng rng(1);
  const MLP mlp(3, 7, rng);
  CHECK(refusal<ShapeError>([&] {
          mlp(Array::zeros({2, 4}));
        }) == "Linear: expects (..., n, 3) for a weight of shape (3, 7): got shape (2, 4)");
  CHECK(refusal<ValueError>([&] { MLP(3, 0, rng); }) ==
        "Linear: sizes must be positive: got 3 and 0");
}
