#include <cmath>

#include "engine/array_math.h"
#include "tests/engine/ops/passes.h"

using namespace tests;

namespace {

struct Operation {
  const char* name;
  Function f;
  Real (*y)(Real a, Real b);
  Real (*da)(Real a, Real b);  // ∂y/∂a
  Real (*db)(Real a, Real b);
};

const std::vector<Operation> operations = {
    {"+", [](const Tensors& x) { return x[0] + x[1]; }, [](Real a, Real b) { return a + b; },
     [](Real, Real) { return Real(1); }, [](Real, Real) { return Real(1); }},
    {"-", [](const Tensors& x) { return x[0] - x[1]; }, [](Real a, Real b) { return a - b; },
     [](Real, Real) { return Real(1); }, [](Real, Real) { return Real(-1); }},
    {"*", [](const Tensors& x) { return x[0] * x[1]; }, [](Real a, Real b) { return a * b; },
     [](Real, Real b) { return b; }, [](Real a, Real) { return a; }},
    {"/", [](const Tensors& x) { return x[0] / x[1]; }, [](Real a, Real b) { return a / b; },
     [](Real, Real b) { return 1 / b; }, [](Real a, Real b) { return -a / (b * b); }},
};

// ±1, ±2, ±4: quotients by them are exact.
Array powers_of_two(const Shape& shape, std::uint64_t seed) {
  Rng rng(seed);
  Array x(shape);
  Real* to = x.write();
  for (Dim i = 0; i < x.size(); ++i)
    to[i] = real((rng.below(2) == 0 ? 1 : -1) * (Dim{1} << rng.below(3)));
  return x;
}

// Every number and every sum is exact, so whatever the order the answer is one.
void check_exactly(const Operation& operation, const Shape& shape_a, const Shape& shape_b) {
  const Array a = integers(shape_a, 1), b = powers_of_two(shape_b, 2);
  const Shape shape = broadcast(shape_a, shape_b, "test");
  const Array dy = integers(shape, 3);
  Array y(shape), da = Array::zeros(shape_a), db = Array::zeros(shape_b);
  Real *to = y.write(), *to_a = da.write(), *to_b = db.write();
  for (Dim i = 0; i < y.size(); ++i) {
    const Dim at_a = source(shape_a, shape, i), at_b = source(shape_b, shape, i);
    to[i] = operation.y(a[at_a], b[at_b]);
    to_a[at_a] += dy[i] * operation.da(a[at_a], b[at_b]);
    to_b[at_b] += dy[i] * operation.db(a[at_a], b[at_b]);
  }
  INFO(operation.name << " " << to_string(shape_a) << " " << to_string(shape_b));
  const Pass found = pass(operation.f, {a, b}, dy);
  CHECK(same_numbers(found.y, y));
  CHECK(same_numbers(found.dx[0], da));
  CHECK(same_numbers(found.dx[1], db));
}

}  // namespace

TEST_CASE("arithmetic is exact over all shapes") {
  for (const Operation& operation : operations)
    for (const Shape& shape : shapes) check_exactly(operation, shape, shape);
}

TEST_CASE("arithmetic broadcasts, and its gradients sum what was stretched") {
  for (const Operation& operation : operations)
    for (const auto& [a, b] : broadcast_pairs) {
      check_exactly(operation, a, b);
      check_exactly(operation, b, a);
    }
}

TEST_CASE("arithmetic rounds as one operation of the processor") {
  const Array a = uniform({65}, 4), b = uniform({65}, 5);
  for (const Operation& operation : operations) {
    Array y({65});
    Real* to = y.write();
    for (Dim i = 0; i < 65; ++i) to[i] = operation.y(a[i], b[i]);
    CHECK(same_bits(value(operation.f, {a, b}), y));
  }
}

TEST_CASE("arithmetic: gradients by hand") {
  // a (2, 3) + b (3): db is the sum of each column, and b (1, 3) keeps its rank.
  const Array dy({2, 3}, {1, 2, 3, 10, 20, 30});
  const auto add = operations[0].f, multiply = operations[2].f;
  CHECK(
      same_bits(pass(add, {counting({2, 3}), counting({3})}, dy).dx[1], Array({3}, {11, 22, 33})));
  CHECK(same_bits(pass(add, {counting({2, 3}), counting({1, 3})}, dy).dx[1],
                  Array({1, 3}, {11, 22, 33})));
  CHECK(
      same_bits(pass(add, {counting({2, 1}), counting({1, 3})}, dy).dx[0], Array({2, 1}, {6, 60})));
  CHECK(same_bits(pass(multiply, {counting({2, 3}), Array({}, {2})}, dy).dx[1], Array({}, {334})));
  CHECK(same_bits(pass([](const Tensors& x) { return -x[0]; }, {counting({2, 3})}, dy).dx[0],
                  Array({2, 3}, {-1, -2, -3, -10, -20, -30})));
}

TEST_CASE("arithmetic obeys the rules of every op") {
  for (const Operation& operation : operations) {
    check_rules(operation.f, {uniform({2, 3}, 1), uniform({2, 3}, 2, 1, 2)});
    check_rules(operation.f, {uniform({2, 1, 4}, 1), uniform({3, 1}, 2, 1, 2)});
    check_rules(operation.f, {uniform({0, 3}, 1), uniform({3}, 2, 1, 2)});
  }
  check_rules([](const Tensors& x) { return -x[0]; }, {uniform({5, 7}, 1)});
  // Sums and differences feel nothing of an infinite value: their zero cotangents stay 0.
  for (const Operation& operation : {operations[0], operations[1]})
    check_rules(operation.f, {Array({2}, {infinity, 1}), Array({2}, {-1, infinity})});
}

TEST_CASE("one tensor on both sides of an operation") {
  const Array x({4}, {-3, 0.5, 2, 7}), dy({4}, {1, -2, 3, 5});
  const auto both = [&](std::size_t i) {
    const Operation& operation = operations[i];
    return pass([&](const Tensors& t) { return operation.f({t[0], t[0]}); }, {x}, dy).dx[0];
  };
  CHECK(same_numbers(both(0), Array({4}, {2, -4, 6, 10})));
  CHECK(same_numbers(both(1), Array::zeros({4})));
  CHECK(same_numbers(both(2), Array({4}, {-6, -2, 12, 70})));
  CHECK(same_numbers(both(3), Array::zeros({4})));

  const auto outer = [](const Tensors& t) { return reshape(t[0], {4, 1}) * t[0]; };
  // Σ_ij x_i·x_j is (Σ x)², so its gradient is 2·Σ x = 13 everywhere.
  CHECK(same_numbers(pass(outer, {x}, Array::ones({4, 4})).dx[0], Array({4}, {13, 13, 13, 13})));

  for (const int times : {2, 3, 10, 1000}) {
    const auto repeated = [times](const Tensors& t) {
      Tensor sum_of_all = t[0] * t[1];
      for (int i = 1; i < times; ++i) sum_of_all = sum_of_all + t[0] * t[1];
      return sum_of_all;
    };
    const Pass found = pass(repeated, {integers({3}, 1), integers({3}, 2)}, Array({3}, {1, -2, 3}));
    const Pass single =
        pass(operations[2].f, {integers({3}, 1), integers({3}, 2)}, Array({3}, {1, -2, 3}));
    for (const std::size_t i : {0u, 1u})
      CHECK(same_numbers(found.dx[i], single.dx[i] * static_cast<Real>(times)));
  }
}

TEST_CASE("arithmetic at the edges of IEEE 754") {
  struct Edge {
    std::size_t operation;
    double a, b, y, da, db;
  };
  const double inf = infinity, nan = quiet_nan;
  const std::vector<Edge> edges = {
      {0, inf, 1, inf, 1, 1},      {0, inf, -inf, nan, 1, 1},   {0, nan, 1, nan, 1, 1},
      {0, 0.0, -0.0, 0, 1, 1},     {1, inf, inf, nan, 1, -1},   {1, -inf, inf, -inf, 1, -1},
      {2, 0, inf, nan, inf, 0},    {2, inf, -2, -inf, -2, inf}, {2, nan, 0, nan, 0, nan},
      {2, -0.0, 3, -0.0, 3, 0},    {3, 1, 0, inf, inf, -inf},   {3, 1, -0.0, -inf, -inf, -inf},
      {3, 0, 0, nan, inf, nan},    {3, 1, inf, 0, 0, 0},        {3, inf, inf, nan, 0, nan},
      {3, inf, 2, inf, 0.5, -inf}, {3, nan, 2, nan, 0.5, nan},  {3, 2, nan, nan, nan, nan},
  };
  for (const Edge& edge : edges) {
    INFO(edge.a << " " << operations[edge.operation].name << " " << edge.b);
    const Pass found = pass(operations[edge.operation].f,
                            {Array({}, {edge.a}), Array({}, {edge.b})}, Array::ones({}));
    CHECK(same_numbers(found.y, Array({}, {edge.y})));
    CHECK(same_numbers(found.dx[0], Array({}, {edge.da})));
    CHECK(same_numbers(found.dx[1], Array({}, {edge.db})));
  }
  const Real most = std::numeric_limits<Real>::max();
  CHECK(same_bits((Tensor(Array::full({1}, most)) + Array::full({1}, most)).value(),
                  Array({1}, {infinity})));
  CHECK(same_bits((-Tensor(Array({3}, {0.0, -0.0, infinity}))).value(),
                  Array({3}, {-0.0, 0.0, -infinity})));
}

TEST_CASE("the gradient of a divisor overflows or vanishes only where it must") {
  struct Case {
    double a, b, dy;
  };
  std::vector<Case> cases = {{1e38, 1e5, 1e10},      {1e30, 1e20, 1e30},   {1e-35, 1e-20, 1e-25},
                             {1e-30, -1e-10, 1e-22}, {1e-20, 1e-10, 1e30}, {1e-30, 1e10, 1e38},
                             {-1e30, 1e-5, 1e-20},   {1e20, 1e30, 1e20}};
  if (sizeof(Real) != sizeof(float)) {
    cases.push_back({1e308, 1e5, 1e10});
    cases.push_back({1e-170, 1e-10, 1e300});
  }
  for (const auto& [a, b, dy] : cases) {
    INFO(a << " / " << b << ", dy " << dy);
    const Pass found = pass(operations[3].f, {Array({1}, {a}), Array({1}, {b})}, Array({1}, {dy}));
    const auto exact = [](double v) { return static_cast<long double>(value_of(Real(v))); };
    const auto right = static_cast<double>(-exact(dy) * exact(a) / exact(b) / exact(b));
    CHECK_THAT(value_of(found.dx[1][0]), WithinRel(right, 4 * unit));
  }
}

TEST_CASE("shapes that do not broadcast are refused") {
  const auto message = [](const std::string& op, const std::string& rest) {
    return op + ": shapes do not broadcast: " + rest;
  };
  for (const Operation& operation : operations) {
    const auto refused = [&](const Shape& a, const Shape& b) {
      const Tensors x = {parameter(Array::ones(a)), parameter(Array::ones(b))};
      return refusal_in_both_modes<ShapeError>([&] { operation.f(x); });
    };
    const std::string op = operation.name;
    CHECK(refused({2}, {3}) == message(op, "(2) and (3); sizes 2 and 3 differ and neither is 1"));
    CHECK(refused({2, 3}, {2}) ==
          message(op, "(2, 3) and (2); sizes 3 and 2 differ and neither is 1"));
    CHECK(refused({0}, {3}) == message(op, "(0) and (3); sizes 0 and 3 differ and neither is 1"));
    CHECK(refused({2, 3, 4}, {3}) ==
          message(op, "(2, 3, 4) and (3); sizes 4 and 3 differ and neither is 1"));
    CHECK(refusal_in_both_modes<GraphError>([&] {
            operation.f({Tensor(), Tensor(1.0)});
          }) == "value: this tensor was never given a value");
  }
  CHECK(refusal_in_both_modes<GraphError>([] { -Tensor(); }) ==
        "value: this tensor was never given a value");
}
