#include <cfenv>
#include <cmath>

#include "tests/engine/ops/passes.h"

using namespace tests;

namespace {

Tensor soft(const Tensors& x) { return softmax(x[0]); }

// softmax, and the same through elementary ops.
Tensor composed_softmax(const Tensors& x) {
  const Tensor e = exp(x[0] - max(x[0], {-1}, true));
  return e / sum(e, {-1}, true);
}

Array one_row(const std::vector<double>& values) {
  return Array({static_cast<Dim>(values.size())}, values);
}

}  // namespace

TEST_CASE("softmax and its gradient by hand") {
  const Pass found =
      pass(soft, {one_row({std::log(1.0), std::log(2.0), std::log(5.0)})}, one_row({8, 0, 16}));
  CHECK(close(found.y, one_row({0.125, 0.25, 0.625})));
  // ⟨dy, y⟩ = 1 + 10 = 11
  CHECK(close(found.dx[0], one_row({-0.375, -2.75, 3.125})));
}

TEST_CASE("softmax against long double") {
  for (const Dim n : {1, 2, 3, 7, 8, 9, 31, 64, 65, 1000})
    for (const double width : {1.0, 30.0}) {
      const Array x = uniform({4, n}, 3, -width, width), dy = uniform({4, n}, 4);
      const Pass found = pass(soft, {x}, dy);
      for (Dim r = 0; r < 4; ++r) {
        long double top = -infinity, total = 0, mean = 0, sum_of_found = 0;
        for (Dim j = r * n; j < (r + 1) * n; ++j)
          top = std::max(top, static_cast<long double>(value_of(x[j])));
        const auto weight = [&](Dim j) {
          return std::exp(static_cast<long double>(value_of(x[j])) - top);
        };
        for (Dim j = r * n; j < (r + 1) * n; ++j) total += weight(j);
        for (Dim j = r * n; j < (r + 1) * n; ++j)
          mean += weight(j) / total * static_cast<long double>(value_of(dy[j]));
        bool within = true;
        for (Dim j = r * n; j < (r + 1) * n; ++j) {
          const long double y = weight(j) / total,
                            dx = y * (static_cast<long double>(value_of(dy[j])) - mean);
          const auto distance = static_cast<double>(top - static_cast<long double>(value_of(x[j])));
          const double bound = 4 * unit * (static_cast<double>(n) + distance + 4);
          within =
              within && std::abs(static_cast<long double>(value_of(found.y[j])) - y) <= bound * y &&
              std::abs(static_cast<long double>(value_of(found.dx[0][j])) - dx) <= 8 * bound * y &&
              found.y[j] >= Real(0) && found.y[j] <= Real(1);
          sum_of_found += static_cast<long double>(value_of(found.y[j]));
        }
        INFO("row " << r << " of " << n << " numbers");
        CHECK(within);
        CHECK(std::abs(sum_of_found - 1) <= static_cast<double>(n) * unit);
      }
    }
}

TEST_CASE("softmax over the last axis of every shape") {
  for (const Shape& shape : shapes) {
    if (shape.rank() == 0) continue;
    INFO(to_string(shape));
    check_two_roads(soft, shape.size() == 0 ? soft : composed_softmax, {uniform(shape, 1)});
    CHECK(value(soft, {uniform(shape, 1)}).shape() == shape);
  }
}

TEST_CASE("softmax of extreme rows") {
  const double inf = infinity, nan = quiet_nan;
  const double gap = sizeof(Real) == sizeof(float) ? 105 : 746;
  const auto check = [](const std::vector<double>& x, const std::vector<double>& y) {
    INFO("row starts with " << x[0]);
    CHECK(same_numbers(value(soft, {one_row(x)}), one_row(y)));
  };
  check({1e4, -1e4}, {1, 0});
  check({-1e30, 1e30, 0}, {0, 1, 0});
  check({0, -gap}, {1, 0});
  check({-inf, 3, 3}, {0, 0.5, 0.5});
  check({inf, 0}, {nan, nan});
  check({-inf, -inf}, {nan, nan});
  check({nan, 0, 1}, {nan, nan, nan});
  const Real most = std::numeric_limits<Real>::max();
  CHECK(same_bits(value(soft, {Array::full({2}, most)}), one_row({0.5, 0.5})));

  const Pass hidden = pass(soft, {one_row({-inf, 1, 2})}, one_row({5, 6, 7}));
  CHECK(hidden.y[0] == Real(0));
  CHECK(hidden.dx[0][0] == Real(0));
  const Pass unknown = pass(soft, {Array({2, 2}, {nan, 1, 1, 1})}, Array({2, 2}, {1, 2, 3, 5}));
  CHECK(same_numbers(unknown.dx[0], Array({2, 2}, {nan, nan, -0.5, 0.5})));
}

TEST_CASE("softmax of a row with a NaN is NaN everywhere, wherever the NaN stands") {
  for (const Dim n : {Dim{5}, Dim{65}, Dim{200}})
    for (const Dim at : {Dim{0}, n / 2, n - 1}) {
      Array row = Array::ones({1, n});
      row.write()[at] = std::numeric_limits<Real>::quiet_NaN();
      CAPTURE(n, at);
      CHECK(same_numbers(value(soft, {row}),
                         Array::full({1, n}, std::numeric_limits<Real>::quiet_NaN())));
    }
}

TEST_CASE("softmax of extreme rows neither overflows nor divides by zero") {
  std::feclearexcept(FE_ALL_EXCEPT);
  pass(soft, {Array({2, 3}, {1e4, -1e4, 0, 1e30, -1e30, 1e30})}, Array::ones({2, 3}));
  CHECK(std::fetestexcept(FE_OVERFLOW | FE_INVALID | FE_DIVBYZERO) == 0);
}

TEST_CASE("softmax of equal numbers is exactly even") {
  for (const double number : {0.0, 0.1, -1e4, 1e30})
    for (Dim n = 1; n <= 1024; n *= 2) {
      const Pass found = pass(soft, {Array::full({n}, Real(number))}, Array::full({n}, Real(0.75)));
      CHECK(same_bits(found.y, Array::full({n}, 1 / real(n))));
      CHECK(same_numbers(found.dx[0], Array::zeros({n})));
    }
}

TEST_CASE("softmax of one number is exactly 1 and feels nothing") {
  const Pass found = pass(soft, {uniform({5, 1}, 1)}, uniform({5, 1}, 2));
  CHECK(same_bits(found.y, Array::ones({5, 1})));
  CHECK(same_numbers(found.dx[0], Array::zeros({5, 1})));
}

TEST_CASE("softmax and log_softmax do not change when all numbers move alike") {
  const Array x = integers({6, 9}, 1), dy = uniform({6, 9}, 2);
  const auto log_soft = [](const Tensors& t) { return log_softmax(t[0]); };
  for (const Dim shift : {1, -3, 1000, -4096, 16'777'000}) {
    Array moved = x.clone();
    Real* to = moved.write();
    for (Dim i = 0; i < moved.size(); ++i) to[i] += real(shift);
    CHECK(same_bits(pass(soft, {moved}, dy).y, pass(soft, {x}, dy).y));
    CHECK(same_bits(pass(soft, {moved}, dy).dx[0], pass(soft, {x}, dy).dx[0]));
    CHECK(same_bits(pass(log_soft, {moved}, dy).y, pass(log_soft, {x}, dy).y));
    CHECK(same_bits(pass(log_soft, {moved}, dy).dx[0], pass(log_soft, {x}, dy).dx[0]));
  }
}

TEST_CASE("a row of softmax does not depend on the others") {
  const Array x = uniform({5, 7}, 1), dy = uniform({5, 7}, 2);
  const Pass all = pass(soft, {x}, dy);
  for (Dim r = 0; r < 5; ++r) {
    const auto one = [r](const Array& of) { return slice(of, 0, r, r + 1).value(); };
    const Pass alone = pass(soft, {one(x)}, one(dy));
    CHECK(same_bits(alone.y, one(all.y)));
    CHECK(same_bits(alone.dx[0], one(all.dx[0])));
  }
}

TEST_CASE("the gradient of softmax is 0 for equal cotangents and sums to 0") {
  const Array x = uniform({8, 9}, 1);
  CHECK(close(pass(soft, {x}, Array::full({8, 9}, 3)).dx[0], Array::zeros({8, 9})));
  CHECK(close(sum(pass(soft, {x}, uniform({8, 9}, 2)).dx[0], {1}).value(), Array::zeros({8})));
}

TEST_CASE("softmax obeys the rules of every op") {
  check_rules(soft, {uniform({2, 3, 4}, 1)});
  check_rules(soft, {uniform({0, 4}, 1)});
  check_rules(soft, {uniform({2, 0}, 1)});
  check_rules(soft, {Array({2, 2}, {-infinity, 1, 1e4, -1e4})});
}

TEST_CASE("softmax refuses a single number") {
  const Tensor x = parameter(Array::ones({}));
  CHECK(refusal_in_both_modes<ShapeError>([&] { softmax(x); }) ==
        "softmax: needs an axis to sum over: got shape ()");
  CHECK(refusal_in_both_modes<GraphError>([] { softmax(Tensor()); }) ==
        "value: this tensor was never given a value");
}
