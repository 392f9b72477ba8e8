#include "nn/layers/linear.h"

#include "tests/nn/modules.h"
#include "tests/support/catch.h"
#include "tests/support/refusal.h"

using namespace tests;

TEST_CASE("Linear: y = xW + b, over any leading axes") {
  Rng rng(1);
  const Linear linear(2, 3, rng);
  assign(linear.weight, Array({2, 3}, {1, 2, 3, 4, 5, 6}));
  assign(linear.bias, Array({3}, {10, 20, 30}));
  CHECK(same_bits(linear(Array({2, 2}, {1, 0, 2, -1})).value(),
                  Array({2, 3}, {11, 22, 33, 8, 19, 30})));
  CHECK(same_bits(linear(Array({1, 2, 1, 2}, {1, 0, 2, -1})).value(),
                  Array({1, 2, 1, 3}, {11, 22, 33, 8, 19, 30})));
  CHECK(linear(Array::zeros({0, 2})).shape() == Shape{0, 3});
}

TEST_CASE("Linear: without a bias it is the product alone") {
  Rng rng(1), again(1);
  const Linear plain(2, 3, rng, Bias::without), with_bias(2, 3, again);
  CHECK_FALSE(plain.bias.exists());
  CHECK(same_bits(plain.weight.value(), with_bias.weight.value()));
  const Tensor x = uniform({4, 2}, 3);
  CHECK(same_bits(plain(x).value(), matmul(x, plain.weight).value()));
}

// L = Σ(xW + b − t)²/n:   dW = 2/n·xᵀ(xW + b − t),   db = 2/n·Σ_rows(xW + b − t),   dx = 2/n·(…)Wᵀ
TEST_CASE("Linear: the gradient of linear regression, by hand") {
  Rng rng(1);
  const Linear linear(2, 1, rng);
  assign(linear.weight, Array({2, 1}, {3, -1}));
  assign(linear.bias, Array({1}, {2}));
  const Tensor x = parameter(Array({4, 2}, {1, 0, 0, 1, 1, 1, 2, -1}));
  const Tensor target = Array({4, 1}, {4, 2, 6, 8});
  // xW + b = 5, 1, 4, 9; residuals 1, −1, −2, 1; L = 7/4
  const Tensor residual = linear(x) - target;
  const Tensor loss = mean(residual * residual);
  CHECK(loss.item() == 1.75);
  backward(loss);
  CHECK(
      same_bits(linear.weight.grad(), Array({2, 1}, {0.5, -2})));  // ½·(1 − 2 + 2), ½·(−1 − 2 − 1)
  CHECK(same_bits(linear.bias.grad(), Array({1}, {-0.5})));  // ½·(1 − 1 − 2 + 1)
  CHECK(same_bits(x.grad(), Array({4, 2}, {1.5, -0.5, -1.5, 0.5, -3, 1, 1.5, -0.5})));
}

TEST_CASE("Linear: each row of the result depends on its own row alone, to the bit") {
  const Linear linear = drawn<Linear>(5, 17, 9);
  const Array x = uniform({3, 7, 17}, 2);
  const Array y = linear(x).value();
  for (Dim b = 0; b < 3; ++b) {
    CHECK(same_bits(linear(part(x, 0, b, b + 1)).value(), part(y, 0, b, b + 1)));
    for (Dim t = 0; t < 7; ++t)
      CHECK(same_bits(part(linear(part(x, 1, t, t + 1)).value(), 0, b, b + 1),
                      part(part(y, 1, t, t + 1), 0, b, b + 1)));
  }
}

TEST_CASE("Linear: every parameter has a gradient, and changes the output when it changes") {
  const Linear linear = drawn<Linear>(7, 3, 4);
  const Tensor x = uniform({5, 3}, 1);
  CHECK(idle_numbers(linear, [&] { return linear(x); }).empty());
}

TEST_CASE("Linear: weights start uniform in ±√(3/in), biases at 0") {
  for (const Dim in : {1, 3, 48, 300}) {
    Rng rng(static_cast<std::uint64_t>(in));
    const Dim out = 6000 / in;
    const Linear linear(in, out, rng);
    const double bound = std::sqrt(3.0 / static_cast<double>(in)),
                 n = static_cast<double>(in * out);
    double total = 0, squares = 0;
    for (const double w : to_vector(linear.weight.value())) total += w, squares += w * w;
    CHECK(largest(linear.weight.value()) <=
          bound * (1 + 1e-7));  // the bound itself, rounded to float
    CHECK(largest(linear.weight.value()) > 0.99 * bound);
    // Uniform in ±a: variance a²/3 = 1/in, fourth moment a⁴/5; five standard errors of each mean.
    CHECK_THAT(total / n, WithinAbs(0, 5 * bound / std::sqrt(3 * n)));
    CHECK_THAT(squares / n, WithinAbs(1.0 / static_cast<double>(in),
                                      5 * bound * bound * std::sqrt((1.0 / 5 - 1.0 / 9) / n)));
    CHECK(same_bits(linear.bias.value(), Array::zeros({out})));
  }
}

TEST_CASE("Linear: a seed decides every weight, and each layer takes new numbers") {
  Rng one(3), same(3), other(4);
  const Linear a(3, 4, one), next(3, 4, one), b(3, 4, same), c(3, 4, other);
  CHECK(same_bits(a.weight.value(), b.weight.value()));
  for (Dim i = 0; i < a.weight.size(); ++i) {
    CHECK(a.weight.value()[i] != next.weight.value()[i]);
    CHECK(a.weight.value()[i] != c.weight.value()[i]);
  }
}

TEST_CASE("Linear: what does not fit is refused") {
  Rng rng(1);
  const Linear linear(3, 2, rng);
  const auto refused = [&](const Shape& shape) {
    return refusal<ShapeError>([&] { linear(Array::zeros(shape)); });
  };
  const std::string expects =
      "Linear: expects (..., n, 3) for a weight of shape (3, 2): got shape ";
  CHECK(refused({2, 4}) == expects + "(2, 4)");
  CHECK(refused({3, 2}) == expects + "(3, 2)");
  CHECK(refused({3}) == expects + "(3)");
  CHECK(refused({}) == expects + "()");
  CHECK(refusal<ValueError>([&] { Linear(0, 2, rng); }) ==
        "Linear: sizes must be positive: got 0 and 2");
  CHECK(refusal<ValueError>([&] { Linear(2, -1, rng); }) ==
        "Linear: sizes must be positive: got 2 and -1");
}
