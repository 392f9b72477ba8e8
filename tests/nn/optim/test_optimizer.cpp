#include "nn/optim/optimizer.h"

#include "nn/optim/adamw.h"
#include "nn/optim/clip.h"
#include "nn/optim/sgd.h"
#include "tests/nn/modules.h"
#include "tests/support/catch.h"
#include "tests/support/refusal.h"
#include "tests/support/threads.h"

using namespace tests;

namespace {

Tensor with_gradient(const Array& value, const Array& gradient) {
  const Tensor p = parameter(value);
  p.set_grad(gradient);
  return p;
}

/// Runs `test` with a maker of each optimiser.
template <class Test>
void for_each_optimizer(Test test) {
  SECTION("Sgd") {
    test([](const std::vector<Tensor>& p) { return Sgd(p, {.rate = 0.5, .momentum = 0.5}); });
  }
  SECTION("AdamW") {
    test([](const std::vector<Tensor>& p) { return AdamW(p, {.rate = 0.5, .decay = 0.5}); });
  }
}

}  // namespace

TEST_CASE("zero_grad: forgets all gradients, and keeps the numbers") {
  const std::vector<Tensor> p{with_gradient(counting({3}), counting({3})),
                              parameter(counting({2}))};
  zero_grad(p);
  CHECK_FALSE(p[0].has_grad());
  CHECK_FALSE(p[1].has_grad());
  CHECK(same_bits(p[0].value(), counting({3})));
}

TEST_CASE("require_finite: names parameter, shape, number and element") {
  const std::vector<Tensor> p{parameter(counting({2})), with_gradient(counting({2}), counting({2})),
                              with_gradient(counting({2, 2}), counting({2, 2}))};
  const auto require_all = [&] { require_finite("Test", p, GradientParts(p), Finite::gradients); };
  CHECK_NOTHROW(require_all());
  const auto refused = [&](double bad) {
    Array g = counting({2, 2});
    g.write()[3] = Real(bad);
    p[2].set_grad(g);
    return refusal<NumericError>(require_all);
  };
  const std::string before = "Test: the gradient of parameter 2 of shape (2, 2) is ";
  const std::string after =
      " at element 3; no parameter was changed; a smaller rate or clipping may help";
  CHECK(refused(infinity) == before + "inf" + after);
  CHECK(refused(-infinity) == before + "-inf" + after);
  CHECK(refused(not_a_number).find(before) == 0);
}

TEST_CASE("GradientParts: every number of every gradient once, and one norm for all threads") {
  const Dim most = kernels::blocking.task_numbers;
  std::vector<Tensor> p{parameter(counting({2}))};
  for (const Dim size : {Dim{0}, Dim{1}, most, 5 * most + 3, Dim{2}})
    p.push_back(with_gradient(Array::zeros({size}), uniform({size}, 3)));
  const GradientParts gradients(p);
  std::vector<std::vector<int>> seen(p.size());
  for (std::size_t i = 0; i < p.size(); ++i) seen[i].resize(static_cast<std::size_t>(p[i].size()));
  gradients.each(1, [&](const GradientParts::Part& part) {
    for (Dim i = 0; i < part.count; ++i)
      ++seen[part.parameter][static_cast<std::size_t>(part.begin + i)];
  });
  CHECK(seen[0] == std::vector<int>(2, 0));
  for (std::size_t i = 1; i < p.size(); ++i) CHECK(seen[i] == std::vector<int>(seen[i].size(), 1));
  double plain = 0;
  for (std::size_t i = 1; i < p.size(); ++i)
    for (const double g : to_vector(p[i].grad())) plain += g * g;
  CHECK_THAT(gradients.sum_of_squares(), WithinRel(plain, 1e-12));
  const auto norm_on = [&](int count) {
    const Threads threads(count);
    return gradients.sum_of_squares();
  };
  CHECK(norm_on(1) == norm_on(3));
  CHECK(gradients.are_finite());
}

TEST_CASE("optimisers: a gradient that is not finite moves nothing at all") {
  for_each_optimizer([](auto make) {
    for (const double bad : {infinity, -infinity, not_a_number}) {
      const std::vector<Tensor> p{with_gradient(counting({2}), counting({2})),
                                  with_gradient(counting({3}), Array({3}, {1, bad, 2})),
                                  with_gradient(counting({2}), counting({2}))};
      auto optimizer = make(p), fresh = make(p);
      CHECK_THAT(refusal<NumericError>([&] { optimizer.step(); }),
                 ContainsSubstring(": the gradient of parameter 1 of shape (3) is "));
      for (const Tensor& x : p) CHECK(same_bits(x.value(), counting(x.shape())));
      // Nor its memory: the next step is that of an optimiser that never met the bad gradient.
      p[1].set_grad(counting({3}));
      optimizer.step();
      std::vector<Array> moved;
      for (const Tensor& x : p) {
        moved.push_back(x.value().clone());
        assign(x, counting(x.shape()));
      }
      fresh.step();
      for (std::size_t i = 0; i < 3; ++i) CHECK(same_bits(p[i].value(), moved[i]));
    }
  });
}

TEST_CASE("optimisers: a parameter without gradient stays as it is") {
  for_each_optimizer([](auto make) {
    const std::vector<Tensor> p{parameter(uniform({4}, 1)),
                                with_gradient(counting({2}), counting({2}))};
    const Array before = p[0].value().clone();
    auto optimizer = make(p);
    for (int step = 0; step < 5; ++step) optimizer.step();
    CHECK(same_bits(p[0].value(), before));
    CHECK_FALSE(same_bits(p[1].value(), counting({2})));
  });
}

TEST_CASE("optimisers: a parameter that gets its first gradient late takes a step of its own") {
  const std::vector<Tensor> p{with_gradient(counting({2}), counting({2})),
                              parameter(counting({2}))};
  Sgd sgd(p, {.rate = 0.5, .momentum = 0.5});
  sgd.step();
  p[1].set_grad(counting({2}));
  sgd.step();
  CHECK(same_bits(p[1].value(), Array({2}, {0.5, 1})));  // first velocity: the gradient

  // With corrections of its own the first step is rate·sign(g); with those of its elders, at the
  // 100th step, it would be 3.1 times as long.
  const std::vector<Tensor> q{with_gradient(counting({2}), counting({2})),
                              parameter(Array({1}, {0}))};
  AdamW adamw(q, {.rate = 0.5, .decay = 0});
  for (int step = 0; step < 99; ++step) adamw.step();
  q[1].set_grad(Array({1}, {3}));
  adamw.step();
  CHECK_THAT(q[1].item(), WithinRel(-0.5, 1e-6));
}

TEST_CASE("optimisers and clipping: constants, and a parameter named twice, are refused") {
  const auto refused = [](const char* who, const auto& use) {
    const Tensor first = parameter(counting({3})), constant(counting({2, 2}));
    CHECK(refusal<ValueError>([&] {
            use({first, constant});
          }) == std::string(who) +
                    ": tensor 1 of shape (2, 2) is no parameter: make it with parameter()");
    CHECK(refusal<ValueError>([&] { use({first * 2.0}); }) ==
          std::string(who) + ": tensor 0 of shape (3) is no parameter: make it with parameter()");
    CHECK(refusal<ValueError>([&] {
            use({parameter(counting({1})), first, first});
          }) == std::string(who) + ": parameters 1 and 2 are the same tensor: list it once");
  };
  using Parameters = std::vector<Tensor>;
  refused("Sgd", [](const Parameters& p) { Sgd(p, {}); });
  refused("AdamW", [](const Parameters& p) { AdamW(p, {}); });
  refused("clip_gradients", [](const Parameters& p) { clip_gradients(p, 1); });
}

TEST_CASE("optimisers: a parameter of no numbers, and no parameters") {
  for_each_optimizer([](auto make) {
    const std::vector<Tensor> p{with_gradient(Array::zeros({0, 3}), Array::zeros({0, 3})),
                                with_gradient(counting({2}), counting({2}))};
    auto optimizer = make(p);
    CHECK_NOTHROW(optimizer.step());
    CHECK(p[0].size() == 0);
    CHECK_FALSE(same_bits(p[1].value(), counting({2})));
    CHECK_NOTHROW(make({}).step());
  });
}

TEST_CASE("optimisers: zero_grad forgets the gradients of all parameters") {
  for_each_optimizer([](auto make) {
    const std::vector<Tensor> p{with_gradient(counting({2}), counting({2}))};
    auto optimizer = make(p);
    optimizer.zero_grad();
    CHECK_FALSE(p[0].has_grad());
    optimizer.step();
    CHECK(same_bits(p[0].value(), counting({2})));
  });
}

TEST_CASE("optimisers: numbers that a graph still needs are not written") {
  for_each_optimizer([](auto make) {
    const Tensor p = with_gradient(uniform({2, 2}, 1), counting({2, 2}));
    const Array before = p.value().clone();
    auto optimizer = make({p});
    {
      const Tensor waiting = sum(p * p);
      CHECK_THAT(refusal<GraphError>([&] { optimizer.step(); }),
                 StartsWith("write: these values are shared, with a graph that still needs them"));
      CHECK(same_bits(p.value(), before));
      p.zero_grad();
      backward(waiting);
      CHECK(close(p.grad(), (Tensor(before) * 2.0).value()));
      CHECK_NOTHROW(optimizer.step());  // backward() has let go of the values
    }
    CHECK_FALSE(same_bits(p.value(), before));
  });
}

// f = (x² + 25·y²)/2 from (4, 1).
TEST_CASE("optimisers: reach the bottom of a bowl") {
  const Array curvature({2}, {1, 25});
  const auto descend = [&](auto make, int steps) {
    const Tensor x = parameter(Array({2}, {4, 1}));
    auto optimizer = make({x});
    for (int step = 0; step < steps; ++step) {
      optimizer.zero_grad();
      backward(sum(x * x * Tensor(curvature)) * 0.5);
      optimizer.step();
    }
    return largest(x.value());
  };
  const auto plain = [](const std::vector<Tensor>& p) { return Sgd(p, {.rate = 0.07}); };
  const auto heavy = [](const std::vector<Tensor>& p) {
    return Sgd(p, {.rate = 0.05, .momentum = 0.6});
  };
  const auto adamw = [](const std::vector<Tensor>& p) {
    return AdamW(p, {.rate = 0.05, .decay = 0});
  };
  CHECK(descend(plain, 150) < 1e-4);  // 4·(1 − 0.07)¹⁵⁰ = 7.5e-5
  CHECK(descend(heavy, 100) < 1e-4);
  CHECK(descend(adamw, 1000) < 1e-4);
}

// f = (1 − x)² + 100·(y − x²)² from (−1.2, 1), the minimum at (1, 1) (Rosenbrock 1960).
TEST_CASE("optimisers: follow Rosenbrock's valley to its end") {
  const auto descend = [](auto make, int steps) {
    const Tensor x = parameter(Array({1}, {-1.2})), y = parameter(Array({1}, {1}));
    auto optimizer = make({x, y});
    for (int step = 0; step < steps; ++step) {
      optimizer.zero_grad();
      const Tensor a = Tensor(1) - x, b = y - x * x;
      backward(a * a + b * b * 100);
      optimizer.step();
    }
    return std::max(std::abs(x.item() - 1), std::abs(y.item() - 1));
  };
  const auto adamw = [](const std::vector<Tensor>& p) {
    return AdamW(p, {.rate = 0.02, .decay = 0});
  };
  const auto heavy = [](const std::vector<Tensor>& p) {
    return Sgd(p, {.rate = 5e-4, .momentum = 0.9});
  };
  CHECK(descend(adamw, 5000) < 0.01);
  CHECK(descend(heavy, 5000) < 0.01);
}
