#include "engine/gradcheck/oracle.h"

#include <array>
#include <optional>
#include <stdexcept>

#include "engine/base/interrupt.h"
#include "tests/engine/gradcheck/rules.h"
#include "tests/support/catch.h"

using namespace tests;

namespace {

constexpr std::array both_methods{Method::dual, Method::differences};

// What may be expected of an oracle: `exact` of dual numbers, `near` of differences.
double accuracy(Method method, double exact = 1e-14, double near = 1e-11) {
  return method == Method::dual ? exact : near;
}

Oracle oracle(Method method, std::function<Tensor()> f, Array v) {
  return {method, std::move(f), std::move(v),
          method == Method::dual ? gradcheck_tolerance_dual : gradcheck_tolerance_differences};
}

// ∂f/∂x_j of a function of one tensor, for v = 1; the oracle knows nothing of what is right.
template <class F>
Derivative derivative(Method method, F f, const Array& x, Dim j = 0, double claimed = 1e300) {
  const Tensor w = parameter(x.clone());
  const Array v = Array::ones(f(w).shape());
  return oracle(
             method, [&] { return f(w); }, v)
      .at(w, j, claimed);
}

void add_one(Real* numbers, Dim count) {
  for (Dim j = 0; j < count; ++j) numbers[j] = numbers[j] + Real(1);
}

}  // namespace

TEST_CASE("derivatives of known functions, without a backward pass") {
  struct Known {
    std::function<Tensor(const Tensor&)> f;
    double x, slope;
    double near = 1e-11;  // the relative error of differences; of dual numbers 1e-14
  };
  const auto squared = [](const Tensor& x) { return x * x; };
  const auto kink = [](const Tensor& x) { return relu(x) * 3.0; };
  const auto logarithm = [](const Tensor& x) { return log(x); };
  const std::vector<Known> all = {
      {[](const Tensor& x) { return x * x * x; }, 1.5, 6.75},
      {[](const Tensor& x) { return tanh(x); }, 0, 1},
      {logarithm, 3, 1.0 / 3},
      {[](const Tensor& x) { return Tensor(1.0) / x; }, -4, -1.0 / 16},
      {[](const Tensor& x) { return x * 0.0 + 7.0; }, 2, 0},
      {[](const Tensor& x) { return x; }, 2, 1},  // f may hand back the parameter's own numbers
      // small and large arguments, and the edge of a domain
      {squared, 1e6, 2e6},
      {squared, 1e-6, 2e-6, 1e-6},
      {logarithm, 1e-3, 1e3, 1e-8},
      {[](const Tensor& x) { return sqrt(x); }, 1e-3, 0.5 / std::sqrt(1e-3), 1e-8},
      // close to a kink the step shrinks until it is on one side
      {kink, 1e-2, 3, 1e-9},
      {kink, 1e-3, 3, 1e-9},
      {kink, 1e-4, 3, 1e-9},
      {kink, -1e-2, 0},
      {kink, -1e-4, 0},
  };
  for (const Method m : both_methods)
    for (const Known& known : all) {
      CAPTURE(known.x, known.slope);
      const Derivative found = derivative(m, known.f, Array({}, {known.x}));
      CHECK(std::abs(found.value - known.slope) <=
            accuracy(m, 1e-14, known.near) * (known.slope == 0 ? 1 : std::abs(known.slope)));
    }
}

TEST_CASE("one element moves; the cotangent weighs the outputs, scale is the sum without signs") {
  const Tensor w = parameter(Array({2}, {3, 5}));
  const auto f = [&] { return concat({w * w, -(w * w), Tensor(Array({1}, {0.7}))}, 0); };
  for (const Method m : both_methods) {
    for (const Dim j : {0, 1}) {
      const double slope = 2 * value_of(w.value()[j]);
      const Derivative found = oracle(m, f, Array({5}, {2, 2, 0.5, 0.5, 1})).at(w, j, 9);
      CHECK_THAT(found.value, WithinRel(1.5 * slope, accuracy(m)));
      CHECK_THAT(found.scale, WithinRel(2.5 * slope, accuracy(m)));
      CHECK(found.converged);
    }
    // An output that does not move has a derivative of exactly 0.
    const auto constants = [](const Tensor&) { return Tensor(uniform({9}, 1)); };
    CHECK(derivative(m, constants, Array({1}, {2})).scale == 0);
  }
}

TEST_CASE("a claim decides how closely to look, never the answer") {
  const auto f = [](const Tensor& x) { return exp(tanh(x * 3.0)); };
  const Array x({}, {0.2});
  for (const Method m : both_methods) {
    const double answer = derivative(m, f, x, 0, 0).value;
    for (const double claim : {answer, answer * (1 + 1e-6), -answer, 1e9, std::nan("")})
      CHECK_THAT(derivative(m, f, x, 0, claim).value, WithinRel(answer, 1e-9));
  }
}

TEST_CASE("the uncertainty of differences covers their error") {
  const auto f = [](const Tensor& x) { return log(x); };
  for (const double x : {2e-5, 5e-5, 1e-4, 1e-2, 1.0}) {
    const Derivative found = derivative(Method::differences, f, Array({}, {x}));
    CHECK(std::abs(found.value - 1 / x) <= found.uncertainty + 1e-11 / x);
    CHECK(derivative(Method::dual, f, Array({}, {x})).uncertainty == 0);
  }
}

TEST_CASE("where f throws or its output has another shape, longer steps decide nothing") {
  const auto of_positive = [](bool throws) {
    return [throws](const Tensor& x) {
      if (value_of(x.value().item()) > 0) return concat({x * x, x}, 0);
      return throws ? throw std::invalid_argument("x must be positive") : x * x;
    };
  };
  for (const bool throws : {true, false})
    for (const double x : {1.0, 1e-2, 1e-3}) {
      CAPTURE(throws, x);
      const Derivative found =
          derivative(Method::differences, of_positive(throws), Array({1}, {x}));
      CHECK(found.converged);
      CHECK_THAT(found.value, WithinRel(2 * x + 1, 1e-9));
      const auto interrupted = [x](const Tensor& w) {
        if (value_of(w.value().item()) != x) throw Interrupted();
        return w * w;
      };
      CHECK_THROWS_AS(derivative(Method::differences, interrupted, Array({1}, {x})), Interrupted);
    }
  CHECK_FALSE(derivative(Method::differences, of_positive(false), Array({1}, {1e-6})).converged);
}

TEST_CASE("differences do not converge at a jump and at a kink, dual numbers follow a branch") {
  const auto diverges = [](auto f) {
    return !derivative(Method::differences, f, Array({}, {0})).converged;
  };
  CHECK(diverges([](const Tensor& x) {
    return Tensor(Array({}, {value_of(x.value().item()) >= 0 ? 1.0 : 0.0}));
  }));
  CHECK(diverges([](const Tensor& x) { return relu(x); }));
  CHECK(diverges([](const Tensor& x) { return relu(x) * 3.0 + x; }));
  CHECK(diverges([](const Tensor& x) { return sqrt(x); }));
  // Dual numbers follow the branch taken.
  const auto slope = [](auto f) { return derivative(Method::dual, f, Array({}, {0})).value; };
  CHECK(slope([](const Tensor& x) { return relu(x); }) == 0);
  CHECK(slope([](const Tensor& x) {
          return max(reshape(x, {1}) * Tensor(Array({2}, {1, 3})));
        }) == 1);
}

TEST_CASE("changed parameters have their old numbers afterwards, also after an exception") {
  const Array x = uniform({3, 4}, 1), y = uniform({2}, 2);
  const Tensor w = parameter(x.clone()), b = parameter(y.clone());
  {
    const ChangedValues changed({w, b});
    add_one(changed.numbers(0), 12);
    add_one(changed.numbers(1), 2);
    CHECK_FALSE((same_bits(w.value(), x) || same_bits(b.value(), y)));
  }
  CHECK((same_bits(w.value(), x) && same_bits(b.value(), y)));
  std::optional<Array> holder;
  const auto change = [&] {
    const ChangedValues changed({w, w});  // one tensor, listed twice
    add_one(changed.numbers(1), 12);
    holder = w.value();  // w.write() would throw from here on
    throw std::runtime_error("out of luck");
  };
  CHECK_THROWS_AS(change(), std::runtime_error);
  CHECK(same_bits(w.value(), x));
}

TEST_CASE("a parameter that cannot be written is refused before anything changes") {
  const Array x = uniform({3, 4}, 1);
  const Tensor w = parameter(x.clone()), shared = parameter(x.clone());
  const Array holder = shared.value();
  CHECK_THROWS_AS(ChangedValues({w, shared}), GraphError);
  CHECK(same_bits(w.value(), x));
  CHECK(same_bits(shared.value(), x));
}
