#include "nn/gradcheck.h"

#include "engine/array_math.h"
#include "nn/layers/layers.h"
#include "tests/nn/modules.h"
#include "tests/support/catch.h"

using namespace tests;

namespace {

/// x, with a backward pass that says `factor` times as much as is true.
Tensor exaggerated(const Tensor& x, double factor) {
  return record("exaggerated", x.value(),
                wrt(x, [factor](const Array& dy) { return dy * Real(factor); }));
}

/// Two layers; the gradient of the second one's weight is wrong by a factor.
struct Doubtful {
  std::vector<Linear> parts;
  double factor;
  Tensor operator()(const Tensor& x) const {
    return matmul(parts[0](x), exaggerated(parts[1].weight, factor)) + parts[1].bias;
  }
  void visit(auto&& f) const { f("parts", parts); }
};

Doubtful doubtful(double factor) {
  Rng rng(1);
  const Doubtful module{{Linear(3, 4, rng), Linear(4, 2, rng)}, factor};
  redraw(module, 1);
  return module;
}

struct Scaled {
  Tensor scale, unused;
  Tensor operator()(const Tensor& x) const { return x * scale; }
  void visit(auto&& f) const {
    f("scale", scale);
    f("unused", unused);
  }
};

struct WrongInput {
  Linear inner;
  Tensor operator()(const Tensor& x) const { return inner(exaggerated(x, 3)); }
  void visit(auto&& f) const { f("inner", inner); }
};

struct Twice {
  Linear first, second;
  Tensor operator()(const Tensor& x) const { return second(first(x)); }
  void visit(auto&& f) const {
    f("first", first);
    f("second", second);
  }
};

}  // namespace

TEST_CASE("gradcheck of a module compares every parameter, and the input if it is given one") {
  const MLP mlp = drawn<MLP>(1, 3, 5);
  const Array x = uniform({2, 2, 3}, 1), same = x.clone();
  std::vector<Array> before;
  for (const Tensor& p : parameters(mlp)) before.push_back(p.value().clone());
  for (const bool has_input : {true, false}) {
    const GradcheckReport report =
        has_input ? gradcheck(mlp, x) : gradcheck(mlp, [&] { return mean(mlp(x)); });
    INFO(to_string(report));
    CHECK(report.ok);
    CHECK(report.elements == (has_input ? 12 : 0) + 15 + 5 + 15 + 3);
  }
  // It leaves its numbers as they were, and no gradient behind.
  CHECK(same_bits(x, same));
  for (std::size_t i = 0; i < before.size(); ++i) {
    CHECK(same_bits(parameters(mlp)[i].value(), before[i]));
    CHECK_FALSE(parameters(mlp)[i].has_grad());
  }
}

TEST_CASE("gradcheck of a module names the parameter whose gradient is wrong, by its path") {
  const Array x = uniform({5, 3}, 2);
  CHECK(gradcheck(doubtful(1), x).ok);
  for (const double factor : {1 + 1e-6, 2.0, -1.0, 0.5}) {
    const Doubtful module = doubtful(factor);
    for (const GradcheckReport& report :
         {gradcheck(module, x), gradcheck(module, [&] { return module(x); })}) {
      INFO(to_string(report));
      CHECK_FALSE(report.ok);
      CHECK(report.problem == "the gradient is wrong");
      CHECK(report.tensor == "parts.1.weight");
      CHECK_THAT(report.analytic / report.expected, WithinRel(factor, 1e-6));
    }
  }
}

TEST_CASE("gradcheck of a module sees a wrong gradient of the input, and a NaN in a parameter") {
  const Linear linear = drawn<Linear>(3, 3, 2);
  const GradcheckReport report = gradcheck(WrongInput{linear}, uniform({2, 3}, 1));
  CHECK_FALSE(report.ok);
  CHECK(report.tensor == "input");
  linear.weight.write()[2] = Real(not_a_number);
  CHECK_FALSE(gradcheck(linear, uniform({2, 3}, 1)).ok);
}

TEST_CASE(
    "gradcheck of a module refuses a parameter that nothing depends on, unless it is listed") {
  const Scaled module{parameter(uniform({2}, 1)), parameter(uniform({3}, 2))};
  const GradcheckReport report = gradcheck(module, uniform({4, 2}, 3));
  CHECK_FALSE(report.ok);
  CHECK(report.tensor == "unused");
  GradcheckOptions listed;
  listed.zero_gradients = {"unused"};
  CHECK(gradcheck(module, uniform({4, 2}, 3), listed).ok);
}

TEST_CASE("gradcheck of a module compares tied parameters once, as the sum of their roles") {
  Twice module{drawn<Linear>(1, 3, 3), drawn<Linear>(2, 3, 3)};
  module.second.weight = module.first.weight;
  const GradcheckReport report = gradcheck(module, uniform({2, 3}, 1));
  INFO(to_string(report));
  CHECK(report.ok);
  CHECK(report.elements == 6 + 9 + 3 + 3);
}
