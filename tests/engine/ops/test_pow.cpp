#include <cmath>

#include "tests/engine/ops/passes.h"

using namespace tests;

namespace {

Tensor power(const Tensors& x) { return pow(x[0], x[1]); }

}  // namespace

TEST_CASE("pow of small whole numbers is exact") {
  const Pass found = pass(power, {Array({2, 3}, {1, 2, 3, -1, -2, -3}), Array({2, 1}, {2, 3})},
                          Array::ones({2, 3}));
  CHECK(same_numbers(found.y, Array({2, 3}, {1, 4, 9, -1, -8, -27})));
  CHECK(same_numbers(found.dx[0], Array({2, 3}, {2, 4, 6, 3, 12, 27})));
  // dn sums xⁿ·log x over a row; the logarithm of a negative number is not a number.
  const double logs = 4 * std::log(2.0) + 9 * std::log(3.0);
  CHECK(std::abs(value_of(found.dx[1][0]) - logs) < 16 * unit * logs);
  CHECK(isnan(found.dx[1][1]));
}

TEST_CASE("pow follows its formula over shapes and broadcasts") {
  const auto check = [](const Shape& shape_x, const Shape& shape_n) {
    INFO(to_string(shape_x) << " " << to_string(shape_n));
    const Array x = uniform(shape_x, 1, 0.5, 2.5), n = uniform(shape_n, 2);
    const Shape shape = broadcast(shape_x, shape_n, "test");
    const Array dy = uniform(shape, 3);
    std::vector<double> y, dx(static_cast<std::size_t>(x.size())),
        dn(static_cast<std::size_t>(n.size()));
    for (Dim i = 0; i < shape.size(); ++i) {
      const Dim at_x = source(shape_x, shape, i), at_n = source(shape_n, shape, i);
      const double base = value_of(x[at_x]), exponent = value_of(n[at_n]);
      y.push_back(std::pow(base, exponent));
      dx[static_cast<std::size_t>(at_x)] +=
          value_of(dy[i]) * exponent * std::pow(base, exponent - 1);
      dn[static_cast<std::size_t>(at_n)] += value_of(dy[i]) * y.back() * std::log(base);
    }
    const Pass found = pass(power, {x, n}, dy);
    CHECK(close(found.y, Array(shape, y)));
    CHECK(close(found.dx[0], Array(shape_x, dx)));
    CHECK(close(found.dx[1], Array(shape_n, dn)));
  };
  for (const Shape& shape : shapes) check(shape, shape);
  for (const auto& [a, b] : broadcast_pairs) {
    check(a, b);
    check(b, a);
  }
}

TEST_CASE("pow obeys the rules of every op") {
  check_rules(power, {uniform({2, 3}, 1, 0.5, 2), uniform({2, 3}, 2)});
  check_rules(power, {uniform({2, 1, 3}, 1, 0.5, 2), uniform({4, 1}, 2)});
  check_rules(power, {uniform({0, 3}, 1), uniform({3}, 2)});
}

TEST_CASE("pow and products are two roads to one answer") {
  const std::vector<Array> x = {uniform({3, 4}, 1)};
  check_two_roads([](const Tensors& t) { return pow(t[0], 3.0); },
                  [](const Tensors& t) { return t[0] * t[0] * t[0]; }, x);
  check_two_roads([](const Tensors& t) { return pow(t[0], -2.0); },
                  [](const Tensors& t) { return 1.0 / (t[0] * t[0]); }, x);
  const std::vector<Array> positive = {uniform({3, 4}, 2, 0.5, 2), uniform({4}, 3)};
  check_two_roads(
      power, [](const Tensors& t) { return exp(t[1] * log(t[0])); }, positive);
  check_two_roads([](const Tensors& t) { return pow(t[0], 0.5); },
                  [](const Tensors& t) { return sqrt(t[0]); }, {positive[0]});
}

TEST_CASE("pow at the edges of its domain") {
  struct Edge {
    double x, n, y, dx, dn;
  };
  const double inf = infinity, nan = quiet_nan;
  const std::vector<Edge> edges = {
      {0, 0, 1, 0, 0},          {0, 1, 0, 1, 0},
      {0, 2, 0, 0, 0},          {0, 0.5, 0, inf, 0},
      {0, -1, inf, -inf, -inf}, {-0.0, 3, -0.0, 0, 0},
      {-2, 0, 1, 0, nan},       {-2, 3, -8, 12, nan},
      {-2, 2, 4, -4, nan},      {-2, -1, -0.5, -0.25, nan},
      {-2, 0.5, nan, nan, nan}, {1, 5, 1, 5, 0},
      {nan, 0, 1, 0, nan},      {nan, 2, nan, nan, nan},
      {2, nan, nan, nan, nan},  {inf, 2, inf, inf, inf},
      {inf, 0, 1, 0, inf},      {-inf, 3, -inf, inf, nan},
      {2, inf, inf, inf, inf},
  };
  for (const Edge& edge : edges) {
    INFO(edge.x << " to the power " << edge.n);
    const Pass found = pass(power, {Array({}, {edge.x}), Array({}, {edge.n})}, Array::ones({}));
    CHECK(same_numbers(found.y, Array({}, {edge.y})));
    if (!std::isnan(edge.y)) CHECK(std::signbit(value_of(found.y[0])) == std::signbit(edge.y));
    CHECK(same_numbers(found.dx[0], Array({}, {edge.dx})));
    CHECK(same_numbers(found.dx[1], Array({}, {edge.dn})));
  }
}

#if !defined(FLEDGE_DUAL)
TEST_CASE("the gradients of pow overflow only where they must") {
  struct Case {
    double x, n, dy, dx, dn;
  };
  for (const Case& c : {Case{1e-20, -2, 1e-30, -2e30, -460517018598.80914},
                        {1e20, 2, 1e-30, 2e-10, 460517018598.80914},
                        {1e-30, 2, 1e38, 2e8, -6.9077552789821368e-21}}) {
    INFO(c.x << " to the power " << c.n << ", dy " << c.dy);
    const Pass found = pass(power, {Array({1}, {c.x}), Array({1}, {c.n})}, Array({1}, {c.dy}));
    CHECK_THAT(value_of(found.dx[0][0]), WithinRel(c.dx, 1e-6));
    CHECK_THAT(value_of(found.dx[1][0]), WithinRel(c.dn, 1e-6));
  }
}
#endif

TEST_CASE("the exponent at base zero gets no gradient among others that do") {
  const Pass found = pass(power, {Array({3}, {0, 1, 2}), Array({}, {2})}, Array::ones({3}));
  CHECK(std::abs(value_of(found.dx[1][0]) - 4 * std::log(2.0)) < 8 * unit * 4);
}

TEST_CASE("pow refuses shapes that do not broadcast") {
  const Tensor x = parameter(Array::ones({2, 3}));
  CHECK(refusal_in_both_modes<ShapeError>([&] { pow(x, parameter(Array::ones({2}))); }) ==
        "pow: shapes do not broadcast: (2, 3) and (2); sizes 3 and 2 differ and neither is 1");
  CHECK(refusal_in_both_modes<GraphError>([&] { pow(x, Tensor()); }) ==
        "value: this tensor was never given a value");
}
