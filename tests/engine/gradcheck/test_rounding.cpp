#include "engine/gradcheck/rounding.h"

#include <array>
#include <new>
#include <stdexcept>

#include "engine/array_math.h"
#include "engine/autograd.h"
#include "engine/base/interrupt.h"
#include "engine/gradcheck/backward_consistency.h"
#include "engine/ops.h"
#include "tests/support/arrays.h"
#include "tests/support/catch.h"

using namespace tests;

namespace {

using Function = std::function<Tensor(const Tensor&)>;

constexpr std::array both{Method::dual, Method::differences};

Oracle oracle(Method method, std::function<Tensor()> f, Array v) {
  return {method, std::move(f), std::move(v),
          method == Method::dual ? gradcheck_tolerance_dual : gradcheck_tolerance_differences};
}

// Element 0 of f's gradient at x against the oracle's.
Difference measured(Method method, const Function& f, const Array& x) {
  const Tensor w = parameter(x.clone());
  const std::function<Tensor()> g = [&] { return f(w); };
  const Array v = Array::ones(g().shape());
  const Oracle by = oracle(method, g, v);
  const double a = gradients_of(g(), {{"w", w}}, v)[0][0];
  std::vector<Difference> all{{0, 0, a, by.at(w, 0, a).value}};
  measure_changes(g, {{"w", w}}, v, by, all);
  CHECK(same_bits(w.value(), x));
  return all[0];
}

const Array x = uniform({3, 4}, 1);

}  // namespace

TEST_CASE("where a gradient cancels to zero, what is left changes with the last places") {
  const auto f = [](const Tensor& b) { return (cosine_similarity(b, b) - 1.0) * 1e6; };
  for (const Method m : both) {
    int zero = 0;
    for (std::uint64_t seed = 1; seed <= 20; ++seed)
      zero += measured(m, f, uniform({3, 4}, seed)).is_zero() ? 1 : 0;
    CHECK(zero >= 18);  // the others agree by chance
  }
}

TEST_CASE("an error does not change with the last places") {
  const auto wrong_exp = [](const Tensor& b) {
    const Array y = exp(b).value();
    return record("exp", y, wrt(b, [y](const Array& dy) { return dy * y * Real(1 + 1e-6); }));
  };
  for (const Method m : both) {
    const Difference d = measured(m, wrong_exp, x);
    CHECK_THAT(d.size(), WithinRel(1e-6 * d.expected, 1e-2));
    CHECK_FALSE(d.is_rounding());
    CHECK_FALSE(d.is_zero());
  }
}

TEST_CASE(
    "a derivative that is not zero is not taken for zero where rounding hides its last digits") {
  const auto f = [](const Tensor& b) {
    return sum((cosine_similarity(b, b) - 1.0) * 1e6) + sum(b);
  };
  for (const Method m : both) {
    const Difference d = measured(m, f, x);
    CHECK_THAT(d.analytic, WithinRel(1, 1e-6));
    CHECK_FALSE(d.is_zero());
  }
}

TEST_CASE("where f throws beside the inputs nothing is measured") {
  const auto strict = [](const Tensor& b) {
    for (Dim j = 0; j < b.size(); ++j)
      if (value_of(b.value()[j]) != value_of(x[j])) throw std::invalid_argument("another input");
    return cosine_similarity(b, b);
  };
  const Tensor w = parameter(x.clone());
  const std::function<Tensor()> g = [&] { return strict(w); };
  const Array v = Array::ones({3});
  for (const Method m : both) {
    std::vector<Difference> all{{0, 0, 1e-16, 0}};
    measure_changes(g, {{"w", w}}, v, oracle(m, g, v), all);
    CHECK(all[0].change == 0);
    CHECK_FALSE(all[0].is_rounding());
    CHECK(same_bits(w.value(), x));
  }
}

TEST_CASE("measuring rounding restores a tensor that is listed twice") {
  const Tensor w = parameter(x.clone());
  const std::function<Tensor()> g = [&] { return cosine_similarity(w, w); };
  const Array v = Array::ones({3});
  for (const Method m : both) {
    std::vector<Difference> all{{0, 0, 1e-16, 0}};
    measure_changes(g, {{"w", w}, {"again", w}}, v, oracle(m, g, v), all);
    CHECK(same_bits(w.value(), x));
  }
}

TEST_CASE("a parameter that cannot be written leaves the others as they were") {
  const Tensor w = parameter(x.clone()), shared = parameter(x.clone());
  const Array holder = shared.value();
  const std::function<Tensor()> g = [&] { return cosine_similarity(w, w); };
  const Array v = Array::ones({3});
  for (const Method m : both) {
    std::vector<Difference> all{{0, 0, 1e-16, 0}};
    measure_changes(g, {{"w", w}, {"shared", shared}}, v, oracle(m, g, v), all);
    CHECK(all[0].change == 0);
    CHECK(same_bits(w.value(), x));
  }
}

TEST_CASE("an interrupt and a lack of memory end the measurement") {
  const Tensor w = parameter(x.clone());
  const Array v = Array::ones({3});
  std::vector<Difference> all{{0, 0, 1e-16, 0}};
  for (const Method m : both) {
    const auto measure = [&](const std::function<Tensor()>& g) {
      measure_changes(g, {{"w", w}}, v, oracle(m, g, v), all);
    };
    CHECK_THROWS_AS(measure([]() -> Tensor { throw Interrupted(); }), Interrupted);
    CHECK_THROWS_AS(measure([]() -> Tensor { throw std::bad_alloc(); }), std::bad_alloc);
    CHECK(same_bits(w.value(), x));
  }
}
