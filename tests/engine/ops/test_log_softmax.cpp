#include <cmath>

#include "tests/engine/ops/passes.h"

using namespace tests;

namespace {

Tensor log_soft(const Tensors& x) { return log_softmax(x[0]); }

}  // namespace

TEST_CASE("log_softmax and its gradient by hand") {
  const Pass found =
      pass(log_soft, {Array({2}, {std::log(1.0), std::log(3.0)})}, Array({2}, {1, 3}));
  CHECK(close(found.y, Array({2}, {std::log(0.25), std::log(0.75)})));
  // dx = dy − y·Σ dy
  CHECK(close(found.dx[0], Array({2}, {0, 0})));
  CHECK(close(pass(log_soft, {Array({2}, {0, 0})}, Array({2}, {1, 0})).dx[0],
              Array({2}, {0.5, -0.5})));
}

TEST_CASE("log_softmax against long double") {
  for (const Dim n : {1, 2, 3, 7, 8, 9, 31, 64, 65, 1000})
    for (const double width : {1.0, 30.0, 1e4}) {
      const Array x = uniform({4, n}, 3, -width, width);
      const Array y = value(log_soft, {x});
      for (Dim r = 0; r < 4; ++r) {
        long double top = -infinity, total = 0;
        for (Dim j = r * n; j < (r + 1) * n; ++j)
          top = std::max(top, static_cast<long double>(value_of(x[j])));
        for (Dim j = r * n; j < (r + 1) * n; ++j)
          total += std::exp(static_cast<long double>(value_of(x[j])) - top);
        const double bound =
            4 * unit * (width + std::log(static_cast<double>(n)) + static_cast<double>(n));
        bool within = true, never_positive = true;
        for (Dim j = r * n; j < (r + 1) * n; ++j) {
          const long double exact =
              static_cast<long double>(value_of(x[j])) - top - std::log(total);
          within = within && std::abs(static_cast<long double>(value_of(y[j])) - exact) <= bound;
          never_positive = never_positive && y[j] <= Real(0);
        }
        INFO("row " << r << " of " << n << " numbers up to " << width);
        CHECK(within);
        CHECK(never_positive);
      }
    }
}

TEST_CASE("log_softmax and elementary ops are two roads to one answer") {
  const auto composed = [](const Tensors& x) { return x[0] - log(sum(exp(x[0]), {-1}, true)); };
  const auto of_softmax = [](const Tensors& x) { return log(softmax(x[0])); };
  for (const Shape& shape : {Shape{7}, Shape{5, 7}, Shape{2, 3, 4}, Shape{2, 1, 4, 1, 3}}) {
    check_two_roads(log_soft, composed, {uniform(shape, 1)});
    check_two_roads(log_soft, of_softmax, {uniform(shape, 1)});
  }
  for (const Shape& shape : shapes)
    if (shape.rank() > 0) CHECK(value(log_soft, {uniform(shape, 1)}).shape() == shape);
}

TEST_CASE("log_softmax is not the logarithm of softmax") {
  // exp(−200) and exp(−2000) are 0 in float and in double; their logarithms are not −∞.
  const Pass found = pass(log_soft, {Array({3}, {0, -200, -2000})}, Array({3}, {1, 1, 1}));
  CHECK(same_numbers(found.y, Array({3}, {0, -200, -2000})));
  CHECK(close(found.dx[0], Array({3}, {-2, 1, 1})));
}

TEST_CASE("log_softmax of extreme rows") {
  const double inf = infinity, nan = quiet_nan;
  const auto check = [](const std::vector<double>& x, const std::vector<double>& y) {
    const Shape shape{static_cast<Dim>(x.size())};
    INFO("row starts with " << x[0]);
    CHECK(same_numbers(value(log_soft, {Array(shape, x)}), Array(shape, y)));
  };
  check({1e4, -1e4}, {0, -2e4});
  check({7}, {0});
  check({-inf, 3}, {-inf, 0});
  check({inf, 0}, {nan, nan});
  check({-inf, -inf}, {nan, nan});
  check({nan, 0}, {nan, nan});
  for (Dim n = 2; n <= 1024; n *= 2) {
    const double even = -std::log(static_cast<double>(n));
    const Array expected = Array::full({n}, Real(even));
    for (const double number : {0.0, 1e4, -1e30})
      CHECK(near(value(log_soft, {Array::full({n}, Real(number))}), expected, 2 * unit));
  }
  // The numbers that are not −∞ are as if it were not there; its own gradient is its own cotangent.
  const Pass with = pass(log_soft, {Array({3}, {-inf, 1, 2})}, Array({3}, {0, 6, 7}));
  const Pass without = pass(log_soft, {Array({2}, {1, 2})}, Array({2}, {6, 7}));
  CHECK(close(with.dx[0], Array({3}, {0, value_of(without.dx[0][0]), value_of(without.dx[0][1])})));
  CHECK(with.dx[0][0] == Real(0));
}

TEST_CASE("log_softmax obeys the rules of every op") {
  check_rules(log_soft, {uniform({2, 3, 4}, 1)});
  check_rules(log_soft, {uniform({0, 4}, 1)});
  check_rules(log_soft, {uniform({2, 0}, 1)});
  check_rules(log_soft, {Array({2, 2}, {-infinity, 1, 1e4, -1e4})});
}

TEST_CASE("log_softmax refuses a single number") {
  const Tensor x = parameter(Array::ones({}));
  CHECK(refusal_in_both_modes<ShapeError>([&] { log_softmax(x); }) ==
        "log_softmax: needs an axis to sum over: got shape ()");
  CHECK(refusal_in_both_modes<GraphError>([] { log_softmax(Tensor()); }) ==
        "value: this tensor was never given a value");
}
