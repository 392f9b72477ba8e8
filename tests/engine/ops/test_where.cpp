#include "tests/engine/ops/passes.h"

using namespace tests;

namespace {

Function choose(const Array& condition) {
  return [condition](const Tensors& x) { return where(condition, x[0], x[1]); };
}

}  // namespace

TEST_CASE("where takes a where the condition is not 0, else b") {
  const Array condition({2, 3}, {1, 0, 0, -2, quiet_nan, -0.0});
  const Pass found = pass(choose(condition), {counting({2, 3}), Array::full({2, 3}, 10)},
                          Array({2, 3}, {1, 2, 3, 4, 5, 6}));
  CHECK(same_bits(found.y, Array({2, 3}, {1, 10, 10, 4, 5, 10})));
  CHECK(same_bits(found.dx[0], Array({2, 3}, {1, 0, 0, 4, 5, 0})));
  CHECK(same_bits(found.dx[1], Array({2, 3}, {0, 2, 3, 0, 0, 6})));
}

TEST_CASE("where broadcasts all three") {
  const auto check = [](const Shape& shape_c, const Shape& shape_a, const Shape& shape_b) {
    INFO(to_string(shape_c) << " " << to_string(shape_a) << " " << to_string(shape_b));
    const Array a = integers(shape_a, 1), b = integers(shape_b, 2);
    Array condition(shape_c);
    Real* c = condition.write();
    for (Dim i = 0; i < condition.size(); ++i) c[i] = real(i % 2);
    const Shape shape = broadcast(broadcast(shape_a, shape_b, "test"), shape_c, "test");
    const Array dy = integers(shape, 3);
    Array y(shape), da = Array::zeros(shape_a), db = Array::zeros(shape_b);
    Real *to = y.write(), *to_a = da.write(), *to_b = db.write();
    for (Dim i = 0; i < y.size(); ++i) {
      const Dim at_a = source(shape_a, shape, i), at_b = source(shape_b, shape, i);
      const bool first = condition[source(shape_c, shape, i)] != Real(0);
      to[i] = first ? a[at_a] : b[at_b];
      if (first)
        to_a[at_a] += dy[i];
      else
        to_b[at_b] += dy[i];
    }
    const Pass found = pass(choose(condition), {a, b}, dy);
    CHECK(same_numbers(found.y, y));
    CHECK(same_numbers(found.dx[0], da));
    CHECK(same_numbers(found.dx[1], db));
  };
  for (const Shape& shape : shapes) check(shape, shape, shape);
  for (const auto& [a, b] : broadcast_pairs) {
    check({}, a, b);
    check(a, b, a);
    check(b, a, a);
    check(a, a, b);
  }
}

TEST_CASE("where obeys the rules of every op") {
  const Array condition({2, 3}, {1, 0, 0, 1, 1, 0});
  check_rules(choose(condition), {uniform({2, 3}, 1), uniform({2, 3}, 2)});
  check_rules(choose(condition), {uniform({3}, 1), uniform({2, 1}, 2)});
  check_rules(choose(condition), {Array::full({2, 3}, Real(infinity)), uniform({2, 3}, 2)});
}

TEST_CASE("what where does not choose is not felt") {
  const Array condition({4}, {1, 0, 1, 0});
  for (const double poison : {quiet_nan, infinity, -infinity}) {
    const Array a({4}, {1, poison, 3, poison}), b({4}, {poison, 2, poison, 4});
    const Pass found = pass(choose(condition), {a, b}, Array({4}, {5, 6, 7, 8}));
    CHECK(same_bits(found.y, Array({4}, {1, 2, 3, 4})));
    CHECK(same_bits(found.dx[0], Array({4}, {5, 0, 7, 0})));
    CHECK(same_bits(found.dx[1], Array({4}, {0, 6, 0, 8})));
  }
  // A cotangent that is not a number goes to the side that was chosen, and to no other.
  const Pass found = pass(choose(condition), {counting({4}), counting({4})},
                          Array({4}, {quiet_nan, 1, 1, infinity}));
  CHECK(same_numbers(found.dx[0], Array({4}, {quiet_nan, 0, 1, 0})));
  CHECK(same_numbers(found.dx[1], Array({4}, {0, 1, 0, infinity})));
}

TEST_CASE("a rule before where may make a NaN, unless its argument is chosen too") {
  struct Case {
    const char* name;
    Function f;
    double x;  // where the rule is 0·∞ or its slope NaN
  };
  const double huge = value_of(std::numeric_limits<Real>::max());
  const std::vector<Case> cases = {
      {"sqrt", [](const Tensors& t) { return sqrt(t[0]); }, 0},
      {"sqrt", [](const Tensors& t) { return sqrt(t[0]); }, -1},
      {"log", [](const Tensors& t) { return log(t[0]); }, 0},
      {"1/x", [](const Tensors& t) { return 1.0 / t[0]; }, 0},
      {"pow", [](const Tensors& t) { return pow(t[0], 0.5); }, 0},
      {"exp", [](const Tensors& t) { return exp(t[0]); }, 1000},
      {"x·x·x", [](const Tensors& t) { return t[0] * t[0] * t[0]; }, huge},
  };
  for (const auto& [name, f, x] : cases) {
    INFO(name << " at " << x);
    const Array condition({2}, {0, 1}), in({2}, {x, 4});
    const Function& g = f;
    const auto bare = [&](const Tensors& t) { return where(condition, g(t), 3.0 * t[0]); };
    const auto safe = [&](const Tensors& t) {
      return where(condition, g({where(condition, t[0], 1.0)}), 3.0 * t[0]);
    };
    CHECK(isnan(pass(bare, {in}, Array::ones({2})).dx[0][0]));
    const Pass found = pass(safe, {in}, Array::ones({2}));
    CHECK(found.dx[0][0] == Real(3));
    CHECK(found.dx[0][1] == pass(f, {Array({1}, {4})}, Array::ones({1})).dx[0][0]);
  }
}

TEST_CASE("where passes a chosen NaN on") {
  const Pass found = pass(choose(Array({2}, {1, 0})),
                          {Array({2}, {quiet_nan, 1}), Array({2}, {1, 2})}, Array::ones({2}));
  CHECK(same_numbers(found.y, Array({2}, {quiet_nan, 2})));
  CHECK(same_numbers(found.dx[0], Array({2}, {1, 0})));
}

TEST_CASE("where of one tensor twice passes the whole gradient") {
  const Array dy({3}, {1, -2, 3});
  const auto same = [](const Tensors& x) { return where(Array({3}, {1, 0, 1}), x[0], x[0]); };
  CHECK(same_numbers(pass(same, {counting({3})}, dy).dx[0], dy));
}

TEST_CASE("where refuses shapes that do not broadcast") {
  const auto refused = [](const Shape& c, const Shape& a, const Shape& b) {
    const Tensor x = parameter(Array::ones(a)), y = parameter(Array::ones(b));
    return refusal_in_both_modes<ShapeError>([&] { where(Array::ones(c), x, y); });
  };
  CHECK(refused({}, {2}, {3}) ==
        "where: shapes do not broadcast: (2) and (3); sizes 2 and 3 differ and neither is 1");
  CHECK(refused({4}, {2, 3}, {3}) ==
        "where: shapes do not broadcast: (2, 3) and (4); sizes 3 and 4 differ and neither is 1");
  CHECK(refused({0}, {2, 3}, {3}) ==
        "where: shapes do not broadcast: (2, 3) and (0); sizes 3 and 0 differ and neither is 1");
  CHECK(refusal_in_both_modes<GraphError>([] { where(Array::ones({}), Tensor(), 1.0); }) ==
        "value: this tensor was never given a value");
}
