// Broadcasting, reductions over every choice of axes, and ops that move numbers: over all shapes.
#include <algorithm>
#include <numeric>

#include "tests/engine/ops/passes.h"

using namespace tests;

namespace {

// Which numbers of x each number of y is summed from: y = x·S, x and y as rows.
struct Selection {
  Shape from, to;
  std::vector<double> s = std::vector<double>(static_cast<std::size_t>(from.size() * to.size()));
  double& operator()(Dim i, Dim j) { return s[static_cast<std::size_t>(i * to.size() + j)]; }
};

void check_selection(const Function& f, const Array& x, const Selection& expected) {
  const auto& [from, to, s] = expected;
  INFO(to_string(from) << " to " << to_string(to));
  const Tensor selection = Array({from.size(), to.size()}, s);
  const auto product = [&, row = Shape{1, from.size()}, shape = to](const Tensors& t) {
    return reshape(matmul(reshape(t[0], row), selection), shape);
  };
  check_two_roads(f, product, {x});
}

// y_i is x_origin[i].
void check_move(const Function& f, const Shape& from, const Shape& to,
                const std::vector<Dim>& origin) {
  REQUIRE(static_cast<Dim>(origin.size()) == to.size());
  Selection moved{from, to};
  for (Dim i = 0; i < to.size(); ++i) moved(origin[static_cast<std::size_t>(i)], i) = 1;
  check_selection(f, integers(from, 1), moved);
}

// The shape without some axes, or with 1 in their place.
Shape without_axes(const Shape& from, const Axes& axes, bool keep) {
  std::vector<Dim> sizes;
  for (int axis = 0; axis < from.rank(); ++axis) {
    const bool goes = std::find(axes.begin(), axes.end(), axis) != axes.end();
    if (keep || !goes) sizes.push_back(goes ? 1 : from[axis]);
  }
  return Shape(std::span<const Dim>(sizes));
}

// x stretched by looking its numbers up, which no other op does.
Tensor stretched(const Tensor& x, const Shape& shape) {
  std::vector<Dim> from(static_cast<std::size_t>(shape.size()));
  for (Dim i = 0; i < shape.size(); ++i)
    from[static_cast<std::size_t>(i)] = source(x.shape(), shape, i);
  const Tensor column = reshape(x, {x.size(), 1});
  return reshape(embedding(column, Indices({shape.size()}, from)), shape);
}

}  // namespace

TEST_CASE("an op of two stretched arguments is that of the arguments repeated") {
  for (const char* name : {"add", "sub", "mul", "div", "pow"})
    for (const auto& [first, second] : broadcast_pairs)
      for (const auto& [a, b] : {std::pair(first, second), std::pair(second, first)}) {
        INFO(name << " " << to_string(a) << " " << to_string(b));
        const Function& f = op_case(name).f;
        const auto repeated = [&f, shape = broadcast(a, b, "test")](const Tensors& x) {
          return f({stretched(x[0], shape), stretched(x[1], shape)});
        };
        check_two_roads(f, repeated, {uniform(a, 1, 0.5, 2.5), uniform(b, 2, 0.5, 2.5)});
      }
}

TEST_CASE("where is c·a + (1 − c)·b, and broadcasts all three") {
  const auto check = [](const Shape& shape_c, const Shape& a, const Shape& b) {
    INFO(to_string(shape_c) << " " << to_string(a) << " " << to_string(b));
    Array c(shape_c);
    Real* to = c.write();
    for (Dim i = 0; i < c.size(); ++i) to[i] = real(i % 2);
    check_two_roads([&c](const Tensors& x) { return where(c, x[0], x[1]); },
                    [&c](const Tensors& x) { return Tensor(c) * x[0] + (1.0 - Tensor(c)) * x[1]; },
                    {integers(a, 1), integers(b, 2)});
  };
  for (const Shape& shape : shapes) check(shape, shape, shape);
  for (const auto& [a, b] : broadcast_pairs) {
    check({}, a, b);
    check(a, b, a);
    check(b, a, a);
    check(a, a, b);
  }
}

TEST_CASE("arithmetic over all shapes rounds as one operation of the processor") {
  const std::vector<std::pair<const char*, Real (*)(Real a, Real b)>> operations = {
      {"add", [](Real a, Real b) { return a + b; }},
      {"sub", [](Real a, Real b) { return a - b; }},
      {"mul", [](Real a, Real b) { return a * b; }},
      {"div", [](Real a, Real b) { return a / b; }}};
  for (const auto& [name, operation] : operations)
    for (const Shape& shape : shapes) {
      INFO(name << " " << to_string(shape));
      const Array a = uniform(shape, 4), b = uniform(shape, 5);
      Array y(shape);
      Real* to = y.write();
      for (Dim i = 0; i < y.size(); ++i) to[i] = operation(a[i], b[i]);
      CHECK(same_bits(value(op_case(name).f, {a, b}), y));
    }
}

TEST_CASE("sum, mean and max over every choice of axes") {
  for (const Shape& from : shapes)
    for (unsigned chosen = 0; chosen < 1u << from.rank(); ++chosen) {
      Axes axes, negative;
      for (int axis = 0; axis < from.rank(); ++axis)
        if ((chosen >> axis & 1u) != 0) {
          axes.push_back(axis);
          negative.insert(negative.begin(), axis - from.rank());
        }
      if (axes.empty() && from.rank() > 0) continue;  // {} is all of them, and comes with the last
      const Shape kept = without_axes(from, axes, true);
      const Array x = integers(from, 1);  // with ties
      Selection all{from, kept}, first{from, kept};
      std::vector<Dim> winner(static_cast<std::size_t>(kept.size()), -1);
      for (Dim i = 0; i < from.size(); ++i) {
        const Dim at = source(kept, from, i);
        all(i, at) = 1;
        Dim& w = winner[static_cast<std::size_t>(at)];
        if (w < 0 || x[i] > x[w]) w = i;
      }
      const bool over_nothing = from.size() == 0 && kept.size() > 0;
      for (Dim at = 0; at < kept.size() && !over_nothing; ++at)
        first(winner[static_cast<std::size_t>(at)], at) = 1;
      Selection shares = all;
      for (double& share : shares.s)
        share /= static_cast<double>(from.size() / std::max<Dim>(1, kept.size()));
      for (const bool keep : {false, true})
        for (const Axes& named : {axes, negative}) {
          all.to = shares.to = first.to = without_axes(from, axes, keep);
          check_selection([&](const Tensors& t) { return sum(t[0], named, keep); }, x, all);
          if (over_nothing) {
            CHECK_THROWS_AS(mean(x, named, keep), ShapeError);
            CHECK_THROWS_AS(max(x, named, keep), ShapeError);
            continue;
          }
          check_selection([&](const Tensors& t) { return mean(t[0], named, keep); }, x, shares);
          check_selection([&](const Tensors& t) { return max(t[0], named, keep); }, x, first);
        }
    }
}

TEST_CASE("the mean and the maximum of a single number are results of their own") {
  const Tensor x = parameter(Array({}, {3}));
  for (const Tensor& y : {mean(x), max(x)}) {
    CHECK((y.item() == 3 && !y.is_parameter()));
    backward(y);
  }
  CHECK(x.grad().item() == Real(2));
  const NoGrad off;
  CHECK_FALSE((mean(x).needs_grad() || max(x).needs_grad()));
}

TEST_CASE("twenty million ones") {
  // A plain float sum stops at 2²⁴ = 16,777,216.
  CHECK(sum(Array::ones({20'000'000})).item() == 2e7);
  CHECK(same_bits(sum(Array::full({7'000'000, 2}, Real(3)), {0}).value(),
                  Array({2}, {2.1e7, 2.1e7})));
}

TEST_CASE("reshape, permute and slice put every number where it belongs") {
  for (const Shape& from : shapes) {
    std::vector<Dim> in_order(static_cast<std::size_t>(from.size()));
    std::iota(in_order.begin(), in_order.end(), 0);
    const Shape flat{from.size()};
    check_move([&](const Tensors& x) { return reshape(x[0], flat); }, from, flat, in_order);
    check_move([&](const Tensors& x) { return reshape(x[0], from); }, flat, from, in_order);
    for (int axis = 0; axis < from.rank(); ++axis)
      for (Dim begin = 0; begin <= std::min<Dim>(from[axis], 3); ++begin)
        for (const Dim end : {begin, (begin + from[axis] + 1) / 2, from[axis]}) {
          Dim inner = 1;
          for (int later = axis + 1; later < from.rank(); ++later) inner *= from[later];
          std::vector<Dim> origin;
          for (const Dim i : in_order)
            if (begin <= i / inner % from[axis] && i / inner % from[axis] < end)
              origin.push_back(i);
          for (const int named : {axis, axis - from.rank()})
            check_move([&](const Tensors& x) { return slice(x[0], named, begin, end); }, from,
                       from.with(axis, end - begin), origin);
        }
  }
  for (const Shape& from :
       {Shape{}, Shape{3}, Shape{2, 3}, Shape{2, 3, 4}, Shape{2, 0, 4}, Shape{2, 1, 4, 1, 3}}) {
    std::vector<Dim> stride(static_cast<std::size_t>(from.rank()), 1);
    for (std::size_t axis = stride.size(); axis > 1; --axis)
      stride[axis - 2] = stride[axis - 1] * from[static_cast<int>(axis) - 1];
    Axes order(stride.size());
    std::iota(order.begin(), order.end(), 0);
    do {
      std::vector<Dim> sizes, origin;
      for (const int axis : order) sizes.push_back(from[axis]);
      const Shape to{std::span<const Dim>(sizes)};
      for (Dim i = 0; i < to.size(); ++i) {
        Dim rest = i, at = 0;
        for (std::size_t axis = order.size(); axis-- > 0; rest /= sizes[axis])
          at += rest % sizes[axis] * stride[static_cast<std::size_t>(order[axis])];
        origin.push_back(at);
      }
      Axes negative = order;
      for (int& axis : negative) axis -= from.rank();
      check_move([&](const Tensors& x) { return permute(x[0], order); }, from, to, origin);
      check_move([&](const Tensors& x) { return permute(x[0], negative); }, from, to, origin);
    } while (std::next_permutation(order.begin(), order.end()));
  }
}

TEST_CASE("concat of constants, and of what split cut") {
  const Tensor a = parameter(counting({2})), constant = counting({1});
  backward(concat({constant, a, constant}, 0), Array({4}, {1, 2, 3, 4}));
  CHECK(same_bits(a.grad(), Array({2}, {2, 3})));
  CHECK_FALSE(concat({constant, constant}, 0).needs_grad());

  const Tensor x = parameter(counting({2, 6}));
  const std::vector<Tensor> pieces = split(x, 3, -1);
  REQUIRE(pieces.size() == 3);
  CHECK(same_bits(concat(pieces, 1).value(), x.value()));
  backward(pieces[1], Array({2, 2}, {1, 2, 3, 4}));
  CHECK(same_bits(x.grad(), Array({2, 6}, {0, 0, 1, 2, 0, 0, 0, 0, 3, 4, 0, 0})));
  for (const Tensor& nothing : split(Array::zeros({0, 3}), 4, 0))
    CHECK(nothing.shape() == Shape{0, 3});
}
