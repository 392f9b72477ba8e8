#include "nn/optim/sgd.h"

#include "tests/nn/modules.h"
#include "tests/support/catch.h"
#include "tests/support/refusal.h"

using namespace tests;

TEST_CASE("Sgd: without momentum, θ ← θ − rate·g") {
  const Tensor p = parameter(Array({3}, {1, 2, 3}));
  Sgd sgd({p}, {.rate = 0.5});
  p.set_grad(Array({3}, {2, -4, 0}));
  sgd.step();
  CHECK(same_bits(p.value(), Array({3}, {0, 4, 3})));
  sgd.step();  // the gradient stays until zero_grad()
  CHECK(same_bits(p.value(), Array({3}, {-1, 6, 3})));
  CHECK(same_bits(p.grad(), Array({3}, {2, -4, 0})));
}

// A constant gradient g, momentum ½: v_n = g·(2 − 2¹⁻ⁿ), Σ v = g·(2n − 2 + 2¹⁻ⁿ). All are exact.
TEST_CASE("Sgd: the first velocity is the gradient, and a constant one sums to a closed form") {
  const Tensor p = parameter(Array({1}, {64}));
  Sgd sgd({p}, {.rate = 0.25, .momentum = 0.5});
  for (int n = 1; n <= 15; ++n) {
    p.set_grad(Array({1}, {4}));
    sgd.step();
    CHECK(p.item() == 64 - (2 * n - 2 + std::pow(2, 1 - n)));
  }
}

// On f = a·θ²/2 the pair (θ, v) is multiplied by a matrix: θ' = θ − r·v', v' = μ·v + a·θ.
TEST_CASE("Sgd: on a quadratic it is the linear recurrence") {
  for (const double momentum : {0.0, 0.3, 0.9}) {
    const Tensor p = parameter(Array({1}, {3}));
    Sgd sgd({p}, {.rate = 0.1, .momentum = momentum});
    double theta = 3, v = 0;
    for (int step = 0; step < 50; ++step) {
      p.zero_grad();
      backward(p * p);  // a = 2
      sgd.step();
      v = momentum * v + 2 * theta;
      theta -= 0.1 * v;
      CHECK_THAT(p.item(), WithinAbs(theta, 10 * rounding));
    }
  }
}

TEST_CASE("Sgd: each parameter and each number has a velocity of its own") {
  const Tensor a = parameter(Array::zeros({2})), b = parameter(Array::zeros({1}));
  Sgd sgd({a, b}, {.rate = 1, .momentum = 0.5});
  a.set_grad(Array({2}, {8, 0}));
  b.set_grad(Array({1}, {2}));
  sgd.step();
  a.set_grad(Array({2}, {0, 4}));
  b.set_grad(Array({1}, {0}));
  sgd.step();
  CHECK(same_bits(a.value(), Array({2}, {-12, -4})));
  CHECK(same_bits(b.value(), Array({1}, {-3})));
}

// v is made of gradients alone: a new rate holds for what is remembered too.
TEST_CASE("Sgd: under a schedule the velocity keeps no old rate") {
  const Tensor p = parameter(Array({1}, {8}));
  Sgd sgd({p}, {.rate = 0.25, .momentum = 0.5});
  p.set_grad(Array({1}, {4}));
  sgd.step();
  CHECK(p.item() == 7);  // v = 4
  sgd.options.rate = 1;
  p.set_grad(Array({1}, {0}));
  sgd.step();
  CHECK(p.item() == 5);  // v = 2
}

TEST_CASE("Sgd: the settings may change between steps, and rate 0 stays") {
  const Tensor p = parameter(Array({1}, {10}));
  Sgd sgd({p}, {.rate = 0});
  p.set_grad(Array({1}, {1}));
  sgd.step();
  CHECK(p.item() == 10);
  sgd.options.rate = 2;
  sgd.step();
  CHECK(p.item() == 8);
}

TEST_CASE("Sgd: settings that make no sense are refused") {
  const auto refused = [](double rate, double momentum) {
    return refusal<ValueError>([&] { Sgd({}, {.rate = rate, .momentum = momentum}); });
  };
  const std::string rate = "Sgd: the rate must be finite and not negative: got ";
  CHECK(refused(-0.1, 0) == rate + "-0.1");
  CHECK(refused(infinity, 0) == rate + "inf");
  CHECK(refused(not_a_number, 0).find(rate) == 0);
  if (value_of(Real(1e39)) > 1e300)  // in float
    CHECK(refused(1e39, 0) == "Sgd: the rate is too large for this number type: got 1e+39");
  const std::string momentum = "Sgd: the momentum must be in [0, 1): got ";
  CHECK(refused(0.1, 1) == momentum + "1");
  CHECK(refused(0.1, -0.5) == momentum + "-0.5");
  CHECK(refused(0.1, not_a_number).find(momentum) == 0);
  CHECK_NOTHROW(Sgd({}, {.rate = 0, .momentum = 0.999}));
}
