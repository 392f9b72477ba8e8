// What holds for every optimiser: it follows its formula, and a step moves all parameters or none.
#include "nn/optim/optimizer.h"

#include "nn/optim/optimizer.h"
#include "tests/nn/modules.h"
#include "tests/nn/optim/by_definition.h"
#include "tests/support/catch.h"
#include "tests/support/refuses.h"
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

/// Three parameters, of which the last has its first gradient late, under a rate that changes.
template <class Number, class Make>
void check_formula(const typename Number::Options& options, Make make) {
  const std::vector<double> decay_factors{0.25, 0, 1};
  const std::vector<Tensor> p{parameter(uniform({5}, 1)), parameter(uniform({1, 1}, 2)),
                              parameter(uniform({2, 3}, 3))};
  std::vector<std::vector<Number>> expected(3);
  for (std::size_t k = 0; k < 3; ++k)
    for (const double theta : to_vector(p[k].value())) expected[k].push_back({theta});
  auto optimizer = make(p, decay_factors);
  for (int step = 0; step < 40; ++step) {
    optimizer.options.rate = options.rate * (step % 4) / 2;  // also 0
    for (std::size_t k = 0; k < (step < 20 ? 2u : 3u); ++k) {
      p[k].set_grad(uniform(p[k].shape(), static_cast<std::uint64_t>(step) + 10 * k));
      for (std::size_t i = 0; i < expected[k].size(); ++i)
        expected[k][i].step(value_of(p[k].grad()[static_cast<Dim>(i)]), optimizer.options,
                            decay_factors[k]);
    }
    optimizer.step();
    for (std::size_t k = 0; k < 3; ++k) {
      std::vector<double> thetas;
      for (const Number& number : expected[k]) thetas.push_back(static_cast<double>(number.theta));
      CHECK(close(p[k].value(), Array(p[k].shape(), thetas), 20 * rounding));
    }
  }
}

}  // namespace

TEST_CASE("optimisers follow their formulas: lists, late gradients, and rates that change") {
  for (const double momentum : {0.0, 0.3, 0.9})
    check_formula<SgdNumber>({.rate = 0.1, .momentum = momentum},
                             [&](const auto& p, const auto& /*factors*/) {
                               return Sgd(p, {.rate = 0.1, .momentum = momentum});
                             });
  for (const AdamWOptions& options :
       {AdamWOptions{.rate = 0.1, .decay = 0.5},
        AdamWOptions{.rate = 0.1, .beta1 = 0.5, .beta2 = 0.8, .eps = 0.5, .decay = 0.5}})
    check_formula<AdamWNumber>(
        options, [&](const auto& p, const auto& factors) { return AdamW(p, options, factors); });
}

// A constant gradient g, momentum ½: v_n = g·(2 − 2¹⁻ⁿ), Σ v = g·(2n − 2 + 2¹⁻ⁿ). All are exact.
TEST_CASE("Sgd: a constant gradient sums to a closed form, and stays until zero_grad()") {
  const Tensor p = with_gradient(Array({1}, {64}), Array({1}, {4}));
  Sgd sgd({p}, {.rate = 0.25, .momentum = 0.5});
  for (int n = 1; n <= 15; ++n) {
    sgd.step();
    CHECK(p.item() == 64 - (2 * n - 2 + std::pow(2, 1 - n)));
  }
  CHECK(same_bits(p.grad(), Array({1}, {4})));
}

TEST_CASE("Sgd: settings that make no sense are refused") {
  const auto made = [](double rate, double momentum) {
    return [=] { Sgd({}, {.rate = rate, .momentum = momentum}); };
  };
  for (const double wrong : {-0.1, infinity, not_a_number})
    CHECK(refuses<ValueError>(made(wrong, 0), "Sgd: the rate", "got "));
  if (value_of(Real(1e39)) > 1e300)  // in float
    CHECK(refuses<ValueError>(made(1e39, 0), "Sgd: the rate", "got 1e+39"));
  for (const double wrong : {1.0, -0.5, not_a_number})
    CHECK(refuses<ValueError>(made(0.1, wrong), "Sgd: the momentum", "[0, 1)", "got "));
  CHECK_NOTHROW(made(0, 0.999)());
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
  double plain = 0;
  for (std::size_t i = 0; i < p.size(); ++i) {
    CHECK(seen[i] == std::vector<int>(seen[i].size(), i == 0 ? 0 : 1));
    if (i > 0)
      for (const double g : to_vector(p[i].grad())) plain += g * g;
  }
  CHECK_THAT(gradients.sum_of_squares(), WithinRel(plain, 1e-12));
  const auto norm_on = [&](int count) {
    const Threads threads(count);
    return gradients.sum_of_squares();
  };
  CHECK(norm_on(1) == norm_on(3));
  CHECK(gradients.are_finite());
}

TEST_CASE("optimisers: a gradient that is not finite is named, and moves nothing at all") {
  for_each_optimizer([](auto make) {
    for (const double bad : {infinity, -infinity, not_a_number}) {
      const std::vector<Tensor> p{with_gradient(counting({2}), counting({2})),
                                  with_gradient(counting({3}), Array({3}, {1, bad, 2})),
                                  with_gradient(counting({2}), counting({2}))};
      auto optimizer = make(p), fresh = make(p);
      CHECK(refuses<NumericError>([&] { optimizer.step(); }, "parameter 1 of shape (3) is ",
                                  bad > 0   ? "inf"
                                  : bad < 0 ? "-inf"
                                            : "nan",
                                  "element 1"));
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

TEST_CASE("optimisers and clipping: constants, and a parameter named twice, are refused") {
  const auto refused = [](const std::string& op, const auto& use) {
    const Tensor first = parameter(counting({3})), constant(counting({2, 2}));
    const auto with = [&](const std::vector<Tensor>& p) { return [&use, p] { use(p); }; };
    CHECK(refuses<ValueError>(with({first, constant}), op + ": ", "tensor 1 of shape (2, 2)"));
    CHECK(refuses<ValueError>(with({first * 2.0}), op + ": ", "tensor 0 of shape (3)"));
    CHECK(refuses<ValueError>(with({parameter(counting({1})), first, first}), op + ": ",
                              "parameters 1 and 2"));
  };
  using Parameters = std::vector<Tensor>;
  refused("Sgd", [](const Parameters& p) { Sgd(p, {}); });
  refused("AdamW", [](const Parameters& p) { AdamW(p, {}); });
  refused("clip_gradients", [](const Parameters& p) { clip_gradients(p, 1); });
}

TEST_CASE("optimisers: without a gradient, without numbers, without parameters") {
  for_each_optimizer([](auto make) {
    const std::vector<Tensor> p{parameter(uniform({4}, 1)),
                                with_gradient(Array::zeros({0, 3}), Array::zeros({0, 3})),
                                with_gradient(counting({2}), counting({2}))};
    const Array before = p[0].value().clone();
    auto optimizer = make(p);
    for (int step = 0; step < 5; ++step) optimizer.step();
    CHECK(same_bits(p[0].value(), before));
    CHECK(p[1].size() == 0);
    const Array moved = p[2].value().clone();
    CHECK_FALSE(same_bits(moved, counting({2})));
    optimizer.zero_grad();
    for (const Tensor& x : p) CHECK_FALSE(x.has_grad());
    optimizer.step();
    CHECK(same_bits(p[2].value(), moved));
    CHECK_NOTHROW(make({}).step());
  });
}

TEST_CASE("optimisers: numbers that a graph still needs are not written") {
  for_each_optimizer([](auto make) {
    const Tensor p = with_gradient(uniform({2, 2}, 1), counting({2, 2}));
    const Array before = p.value().clone();
    auto optimizer = make({p});
    {
      const Tensor waiting = sum(p * p);
      CHECK(refuses<GraphError>([&] { optimizer.step(); }, "write", "graph"));
      CHECK(same_bits(p.value(), before));
      p.zero_grad();
      backward(waiting);
      CHECK(close(p.grad(), (Tensor(before) * 2.0).value()));
      CHECK_NOTHROW(optimizer.step());  // backward() has let go of the values
    }
    CHECK_FALSE(same_bits(p.value(), before));
  });
}
