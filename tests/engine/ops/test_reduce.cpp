#include <cmath>

#include "tests/engine/ops/passes.h"

using namespace tests;

namespace {

using Reduction = Tensor (*)(const Tensor& x, const Axes& axes, bool keep_axes);
constexpr Reduction reductions[] = {sum, mean, max};

// One choice of axes: the shape with them as 1, the shape without them, and how many numbers go.
struct Reduced {
  Shape kept, without;
  Dim count = 1;
  Reduced(const Shape& from, unsigned chosen) {
    std::vector<Dim> ones, rest;
    for (int axis = 0; axis < from.rank(); ++axis) {
      const bool goes = (chosen >> axis & 1u) != 0;
      ones.push_back(goes ? 1 : from[axis]);
      if (goes) count *= from[axis];
      if (!goes) rest.push_back(from[axis]);
    }
    kept = Shape(std::span<const Dim>(ones));
    without = Shape(std::span<const Dim>(rest));
  }
};

void check_reduction(std::size_t which, const Array& x, const Axes& axes, const Reduced& to) {
  const Shape& from = x.shape();
  const Array dy = integers(to.kept, 2);
  Array y = Array::full(to.kept, Real(which == 2 ? -infinity : 0)), dx = Array::zeros(from);
  std::vector<Dim> winner(static_cast<std::size_t>(y.size()), -1);
  Real *to_y = y.write(), *to_x = dx.write();
  const Real count = real(to.count);
  for (Dim i = 0; i < x.size(); ++i) {
    const Dim at = source(to.kept, from, i);
    Dim& first = winner[static_cast<std::size_t>(at)];
    if (which == 2 && (first < 0 || x[i] > to_y[at])) first = i;
    to_y[at] = which == 2 ? x[first] : to_y[at] + x[i];
    if (which != 2) to_x[i] = which == 1 ? dy[at] / count : dy[at];
  }
  for (Dim at = 0; at < y.size(); ++at) {
    if (which == 1) to_y[at] /= count;
    if (which == 2) to_x[winner[static_cast<std::size_t>(at)]] = dy[at];
  }
  for (const bool keep : {false, true}) {
    const Shape& shape = keep ? to.kept : to.without;
    const Pass found = pass([&](const Tensors& t) { return reductions[which](t[0], axes, keep); },
                            {x}, dy.with_shape(shape));
    INFO("reduction " << which << " of " << to_string(from) << " to " << to_string(shape));
    CHECK(same_numbers(found.y, y.with_shape(shape)));
    CHECK(same_numbers(found.dx[0], dx));
  }
}

}  // namespace

TEST_CASE("sum, mean and max over every choice of axes") {
  for (const Shape& shape : shapes) {
    const unsigned choices = 1u << shape.rank();
    for (unsigned chosen = 0; chosen < choices; ++chosen) {
      if (chosen == 0 && shape.rank() > 0) continue;  // {} is all of them, and comes with the last
      const Reduced to(shape, chosen);
      Axes forward, backward_negative;
      for (int axis = 0; axis < shape.rank(); ++axis)
        if ((chosen >> axis & 1u) != 0) {
          forward.push_back(axis);
          backward_negative.insert(backward_negative.begin(), axis - shape.rank());
        }
      const Array x = integers(shape, 1);  // with ties
      for (const std::size_t which : {0u, 1u, 2u}) {
        if (which != 0 && to.count == 0) {
          const auto refused = [&] { reductions[which](parameter(x), forward, false); };
          CHECK(refusal_in_both_modes<ShapeError>(refused) ==
                std::string(which == 1 ? "mean" : "max") +
                    ": over nothing is not defined: got shape " + to_string(shape));
          continue;
        }
        check_reduction(which, x, forward, to);
        check_reduction(which, x, backward_negative, to);
        if (chosen == choices - 1) check_reduction(which, x, {}, to);
      }
    }
  }
}

TEST_CASE("reductions by hand") {
  const Tensor x = counting({2, 3});
  CHECK(sum(x).item() == 21);
  CHECK(mean(x).item() == 3.5);
  CHECK(max(x).item() == 6);
  CHECK(same_bits(sum(x, {0}).value(), Array({3}, {5, 7, 9})));
  CHECK(same_bits(sum(x, {-1}, true).value(), Array({2, 1}, {6, 15})));
  CHECK(same_bits(mean(x, {1}).value(), Array({2}, {2, 5})));
  CHECK(same_bits(max(x, {0}, true).value(), Array({1, 3}, {4, 5, 6})));
  CHECK(sum(Tensor(Array::zeros({0}))).item() == 0);
  CHECK(same_bits(sum(Tensor(Array::zeros({2, 0})), {1}).value(), Array({2}, {0, 0})));
}

TEST_CASE("reductions obey the rules of every op") {
  for (const Reduction reduce : reductions)
    for (const Axes& axes : {Axes{}, Axes{1}, Axes{0, 2}})
      check_rules([&](const Tensors& x) { return reduce(x[0], axes, false); },
                  {uniform({2, 3, 4}, 1)});
  check_rules([](const Tensors& x) { return sum(x[0], {1}); }, {uniform({2, 0, 4}, 1)});
  for (const Reduction reduce : reductions)
    check_rules([&](const Tensors& x) { return reduce(x[0], {}, false); },
                {Array({3}, {infinity, 1, -infinity})});
}

TEST_CASE("the gradient of max goes to the first that reaches it") {
  const auto dx = [](const Array& x, const Axes& axes, const Array& dy) {
    return pass([&](const Tensors& t) { return max(t[0], axes); }, {x}, dy).dx[0];
  };
  CHECK(same_bits(dx(Array({4}, {1, 3, 3, 2}), {}, Array({}, {5})), Array({4}, {0, 5, 0, 0})));
  CHECK(same_bits(dx(Array({2, 2}, {3, 1, 3, 3}), {0}, Array({2}, {5, 7})),
                  Array({2, 2}, {5, 0, 0, 7})));
  CHECK(same_bits(dx(Array({2}, {-0.0, 0.0}), {}, Array({}, {5})), Array({2}, {5, 0})));
  CHECK(same_bits(dx(Array({3}, {1, std::nextafter(2.0, 1.0), 2}), {}, Array({}, {5})),
                  sizeof(Real) == sizeof(float) ? Array({3}, {0, 5, 0}) : Array({3}, {0, 0, 5})));
}

TEST_CASE("reductions of infinities and NaN") {
  const double inf = infinity, nan = quiet_nan;
  const auto check = [](Reduction reduce, const Array& x, double y, const Array& dx) {
    const Pass found =
        pass([&](const Tensors& t) { return reduce(t[0], {}, false); }, {x}, Array::ones({}));
    CHECK(same_numbers(found.y, Array({}, {y})));
    CHECK(same_numbers(found.dx[0], dx));
  };
  check(max, Array({3}, {1, nan, inf}), nan, Array({3}, {0, 1, 0}));
  check(max, Array({3}, {nan, 1, nan}), nan, Array({3}, {1, 0, 0}));
  check(max, Array({2}, {-inf, -inf}), -inf, Array({2}, {1, 0}));
  check(max, Array({3}, {-inf, inf, 5}), inf, Array({3}, {0, 1, 0}));
  check(sum, Array({2}, {inf, -inf}), nan, Array::ones({2}));
  check(sum, Array({2}, {inf, 1}), inf, Array::ones({2}));
  check(mean, Array({2}, {nan, 1}), nan, Array({2}, {0.5, 0.5}));
}

TEST_CASE("the mean is the sum, divided") {
  const Array enormous = Array::full({4}, std::numeric_limits<Real>::max());
  for (const Array& x : {uniform({7}, 1), uniform({300}, 2), enormous})
    CHECK(same_bits(mean(x).value(), (sum(x) / value_of(real(x.size()))).value()));
}

TEST_CASE("the mean and the maximum of a single number are results of their own") {
  const Tensor x = parameter(Array({}, {3}));
  for (const auto reduce : {&mean, &max}) {
    const Tensor y = reduce(x, {}, false);
    CHECK(y.item() == 3);
    CHECK_FALSE(y.is_parameter());
    backward(y);
    NoGrad no_grad;
    CHECK_FALSE(reduce(x, {}, false).needs_grad());
  }
  CHECK(x.grad().item() == Real(2));
}

TEST_CASE("the variance of numbers far from zero") {
  const bool single = sizeof(Real) == sizeof(float);
  const double far = single ? 1e6 : 1e8;
  const Tensor x = Array({3}, {far, far + 1, far + 2});
  const Tensor centred = x - mean(x);
  CHECK(same_bits(mean(centred * centred).value(), (Tensor(2.0) / 3.0).value()));
}

TEST_CASE("twenty million ones") {
  // A plain float sum stops at 2²⁴ = 16,777,216.
  CHECK(sum(Array::ones({20'000'000})).item() == 2e7);
  CHECK(same_bits(sum(Array::full({7'000'000, 2}, Real(3)), {0}).value(),
                  Array({2}, {2.1e7, 2.1e7})));
}

TEST_CASE("sums err with the logarithm of their length") {
  for (const Dim n : {2, 3, 8, 100, 129, 1000, 5000}) {
    const Array x = uniform({3, n, 2}, 5, -1, 1.5);
    const Array y = sum(x, {1}).value();
    for (Dim o = 0; o < 3; ++o)
      for (Dim i = 0; i < 2; ++i) {
        long double exact = 0, size = 0;
        for (Dim r = 0; r < n; ++r) {
          const auto term = static_cast<long double>(value_of(x[(o * n + r) * 2 + i]));
          exact += term;
          size += std::abs(term);
        }
        const auto error =
            static_cast<double>(std::abs(static_cast<long double>(value_of(y[o * 2 + i])) - exact));
        INFO("n = " << n);
        CHECK(error <= 2 * unit * std::log2(static_cast<double>(n)) * static_cast<double>(size));
      }
  }
}

TEST_CASE("axes that are not there, or named twice, are refused") {
  const char* const names[] = {"sum", "mean", "max"};
  const Tensor x = parameter(counting({2, 3})), scalar = parameter(counting({}));
  for (const std::size_t which : {0u, 1u, 2u}) {
    const std::string name = names[which];
    const auto refused = [&](const Tensor& t, const Axes& axes) {
      return refusal_in_both_modes<ShapeError>([&] { reductions[which](t, axes, true); });
    };
    CHECK(refused(x, {2}) == name + ": no axis 2 in shape (2, 3)");
    CHECK(refused(x, {0, -3}) == name + ": no axis -3 in shape (2, 3)");
    CHECK(refused(scalar, {0}) == name + ": no axis 0 in shape ()");
    CHECK(refused(scalar, {-1}) == name + ": no axis -1 in shape ()");
    CHECK(refused(x, {1, 1}) == name + ": an axis is named twice for shape (2, 3)");
    CHECK(refused(x, {1, -1}) == name + ": an axis is named twice for shape (2, 3)");
    CHECK(refusal_in_both_modes<GraphError>([&] { reductions[which](Tensor(), {}, false); }) ==
          "value: this tensor was never given a value");
  }
}
