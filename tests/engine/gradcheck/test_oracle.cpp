// builds: f64 dual
#include "engine/gradcheck/oracle.h"

#include <stdexcept>

#include "engine/autograd.h"
#include "engine/gradcheck/gradcheck.h"
#include "engine/ops.h"
#include "tests/support/arrays.h"
#include "tests/support/catch.h"

using namespace tests;

namespace {

const bool exact = std::string(gradcheck_oracle) == "dual";
const double accuracy = exact ? 1e-14 : 1e-11;

// ∂f/∂x_j of a function of one tensor, for v = 1; the oracle knows nothing of what is right.
template <class F>
Derivative derivative(F f, const Array& x, Dim j = 0, double claimed = 1e300) {
  const Tensor w = parameter(x.clone());
  const Array v = Array::ones(f(w).shape());
  return Oracle([&] { return f(w); }, v, gradcheck_tolerance).at(w, j, claimed);
}

template <class F>
double slope(F f, double x) {
  return derivative(f, Array({}, {x})).value;
}

}  // namespace

TEST_CASE("the oracle has a name and a tolerance") {
#if defined(FLEDGE_DUAL)
  CHECK(std::string(gradcheck_oracle) == "dual");
  CHECK(gradcheck_tolerance == 1e-12);
#else
  CHECK(std::string(gradcheck_oracle) == "differences");
  CHECK(gradcheck_tolerance == 1e-8);
#endif
}

TEST_CASE("derivatives of known functions, without a backward pass") {
  CHECK_THAT(slope([](auto x) { return x * x * x; }, 1.5), WithinRel(6.75, accuracy));
  CHECK_THAT(slope([](auto x) { return exp(x); }, -2), WithinRel(std::exp(-2), accuracy));
  CHECK_THAT(slope([](auto x) { return tanh(x); }, 0), WithinRel(1, accuracy));
  CHECK_THAT(slope([](auto x) { return log(x); }, 3), WithinRel(1.0 / 3, accuracy));
  CHECK_THAT(slope([](auto x) { return Tensor(1.0) / x; }, -4), WithinRel(-1.0 / 16, accuracy));
  CHECK_THAT(slope([](auto x) { return x * 0.0 + 7.0; }, 2), WithinAbs(0, accuracy));
}

TEST_CASE("small and large arguments, and the edge of a domain") {
  CHECK_THAT(slope([](auto x) { return x * x; }, 1e6), WithinRel(2e6, accuracy));
  CHECK_THAT(slope([](auto x) { return x * x; }, 1e-6), WithinRel(2e-6, exact ? 1e-14 : 1e-6));
  CHECK_THAT(slope([](auto x) { return log(x); }, 1e-3), WithinRel(1e3, exact ? 1e-14 : 1e-8));
  CHECK_THAT(slope([](auto x) { return sqrt(x); }, 1e-3),
             WithinRel(0.5 / std::sqrt(1e-3), exact ? 1e-14 : 1e-8));
}

TEST_CASE("an output that does not move has a derivative of exactly 0") {
  const auto f = [](const Tensor& x) { return concat({x, Tensor(Array({2}, {0.7, 1.3}))}, 0); };
  const auto constants = [](const Tensor&) { return Tensor(uniform({9}, 1)); };
  CHECK(derivative(constants, Array({1}, {2})).scale == 0);
  CHECK_THAT(derivative(f, Array({1}, {2})).scale, WithinRel(1, accuracy));
}

TEST_CASE("close to a kink the step shrinks until it is on one side") {
  for (const double x : {1e-2, 1e-3, 1e-4}) {
    CHECK_THAT(slope([](auto w) { return relu(w) * 3.0; }, x), WithinRel(3, 1e-9));
    CHECK_THAT(slope([](auto w) { return relu(w) * 3.0; }, -x), WithinAbs(0, 1e-12));
  }
}

TEST_CASE("one element moves, the others stay") {
  const auto f = [](const Tensor& x) { return sum(x * x * x); };
  const Array x({2, 2}, {1, 2, 3, 4});
  for (Dim j = 0; j < 4; ++j)
    CHECK_THAT(derivative(f, x, j).value, WithinRel(3 * value_of(x[j] * x[j]), accuracy));
}

TEST_CASE("the cotangent weighs the outputs; scale is the sum without signs") {
  const Tensor w = parameter(Array({2}, {3, 5}));
  const auto f = [&] { return concat({w * w, -(w * w)}, 0); };
  const Derivative found = Oracle(f, Array({4}, {2, 1, 0.5, 1}), gradcheck_tolerance).at(w, 0, 9);
  CHECK_THAT(found.value, WithinRel(2 * 6 - 0.5 * 6, accuracy));
  CHECK_THAT(found.scale, WithinRel(2 * 6 + 0.5 * 6, accuracy));
  CHECK(found.settled);
}

TEST_CASE("a claim decides how closely to look, never the answer") {
  const auto f = [](const Tensor& x) { return exp(tanh(x * 3.0)); };
  const Array x({}, {0.2});
  const double answer = derivative(f, x, 0, 0).value;
  for (const double claim : {answer, answer * (1 + 1e-6), -answer, 1e9, std::nan("")})
    CHECK_THAT(derivative(f, x, 0, claim).value, WithinRel(answer, 1e-9));
}

TEST_CASE("the parameter has its old numbers afterwards, bit for bit") {
  const Array x = uniform({3}, 1);
  const Tensor w = parameter(x.clone());
  const auto f = [&] { return tanh(w); };
  for (Dim j = 0; j < 3; ++j) Oracle(f, Array::ones({3}), gradcheck_tolerance).at(w, j, 0);
  CHECK(same_bits(w.value(), x));
}

TEST_CASE("the parameter has its old numbers also when f throws") {
  const Array x({}, {1});
  const Tensor w = parameter(x.clone());
  const auto f = [&]() -> Tensor { throw std::runtime_error("outside the domain"); };
  CHECK_THROWS_AS(Oracle(f, Array::ones({}), 1e-8).at(w, 0, 0), std::runtime_error);
  CHECK(same_bits(w.value(), x));
}

TEST_CASE("f may hand back the parameter's own numbers") {
  CHECK_THAT(slope([](auto x) { return x; }, 2), WithinRel(1, accuracy));
  CHECK_THAT(slope([](auto x) { return reshape(x, {1, 1}); }, 2), WithinRel(1, accuracy));
}

TEST_CASE("nothing is recorded while the oracle looks", "[GR05]") {
  bool recorded = false;
  const Tensor w = parameter(Array({}, {2}));
  Oracle([&] { return recorded = recorded || recording(), w * w; }, Array::ones({}), 1e-8)
      .at(w, 0, 0);
  CHECK_FALSE(recorded);
  CHECK(recording());
}

#if !defined(FLEDGE_DUAL)
TEST_CASE("a jump and a kink at the very point do not settle") {
  const auto unsettled = [](auto f) { return !derivative(f, Array({}, {0})).settled; };
  CHECK(unsettled([](const Tensor& x) {
    return Tensor(Array({}, {value_of(x.value().item()) >= 0 ? 1.0 : 0.0}));
  }));
  CHECK(unsettled([](const Tensor& x) { return relu(x); }));
  CHECK(unsettled([](const Tensor& x) { return relu(x) * 3.0 + x; }));
  CHECK(unsettled([](const Tensor& x) { return sqrt(x); }));
}
#else
TEST_CASE("at a kink a dual number follows the branch taken", "[OP17]") {
  CHECK(slope([](auto x) { return relu(x); }, 0) == 0);
  CHECK(slope([](auto x) { return max(reshape(x, {1}) * Tensor(Array({2}, {1, 3}))); }, 0) == 1);
}
#endif
