#include <algorithm>
#include <numeric>

#include "tests/engine/ops/passes.h"

using namespace tests;

namespace {

// An op that moves numbers: `y` is where each number of the result comes from, among 0 … n − 1.
void check_move(const Function& f, const Shape& from, const Shape& to,
                const std::vector<Dim>& origin) {
  INFO(to_string(from) << " to " << to_string(to));
  const Array x = integers(from, 1), dy = integers(to, 2);
  Array y(to), dx = Array::zeros(from);
  REQUIRE(static_cast<Dim>(origin.size()) == y.size());
  Real *to_y = y.write(), *to_x = dx.write();
  for (std::size_t i = 0; i < origin.size(); ++i) {
    to_y[i] = x[origin[i]];
    to_x[origin[i]] += dy[static_cast<Dim>(i)];
  }
  const Pass found = pass(f, {x}, dy);
  CHECK(same_numbers(found.y, y));
  CHECK(same_numbers(found.dx[0], dx));
}

std::vector<Dim> in_order(const Shape& shape) {
  std::vector<Dim> origin(static_cast<std::size_t>(shape.size()));
  std::iota(origin.begin(), origin.end(), 0);
  return origin;
}

// Element i of the permuted array, by its indices.
std::vector<Dim> permuted_origin(const Shape& from, const Shape& to, const Axes& order) {
  std::vector<Dim> origin;
  for (Dim i = 0; i < to.size(); ++i) {
    std::vector<Dim> index(order.size());
    Dim rest = i;
    for (int axis = to.rank() - 1; axis >= 0; --axis) {
      index[static_cast<std::size_t>(order[static_cast<std::size_t>(axis)])] = rest % to[axis];
      rest /= to[axis];
    }
    Dim at = 0;
    for (int axis = 0; axis < from.rank(); ++axis)
      at = at * from[axis] + index[static_cast<std::size_t>(axis)];
    origin.push_back(at);
  }
  return origin;
}

}  // namespace

TEST_CASE("reshape keeps the numbers in their order") {
  for (const Shape& shape : shapes) {
    const Shape flat{shape.size()};
    check_move([&](const Tensors& x) { return reshape(x[0], flat); }, shape, flat, in_order(shape));
    check_move([&](const Tensors& x) { return reshape(x[0], shape); }, flat, shape,
               in_order(shape));
  }
  const Tensor x = counting({2, 3});
  CHECK(same_bits(reshape(x, {3, 2}).value(), Array({3, 2}, {1, 2, 3, 4, 5, 6})));
  CHECK(reshape(Tensor(Array::zeros({2, 0})), {0, 5}).shape() == Shape{0, 5});
}

TEST_CASE("permute follows every order of the axes") {
  for (const Shape& from :
       {Shape{}, Shape{3}, Shape{2, 3}, Shape{2, 3, 4}, Shape{2, 0, 4}, Shape{2, 1, 4, 3}}) {
    Axes order(static_cast<std::size_t>(from.rank()));
    std::iota(order.begin(), order.end(), 0);
    do {
      std::vector<Dim> sizes;
      for (const int axis : order) sizes.push_back(from[axis]);
      const Shape to{std::span<const Dim>(sizes)};
      const auto origin = permuted_origin(from, to, order);
      Axes negative = order;
      for (int& axis : negative) axis -= from.rank();
      check_move([&](const Tensors& x) { return permute(x[0], order); }, from, to, origin);
      check_move([&](const Tensors& x) { return permute(x[0], negative); }, from, to, origin);
    } while (std::next_permutation(order.begin(), order.end()));
  }
}

TEST_CASE("permute and transpose of eight axes") {
  const Shape from{2, 1, 2, 1, 2, 1, 2, 1};
  const Axes order = {6, 4, 2, 0, 7, 5, 3, 1};
  check_move([&](const Tensors& x) { return permute(x[0], order); }, from, {2, 2, 2, 2, 1, 1, 1, 1},
             permuted_origin(from, {2, 2, 2, 2, 1, 1, 1, 1}, order));
  check_move([](const Tensors& x) { return transpose(x[0], 0, -1); }, from,
             {1, 1, 2, 1, 2, 1, 2, 2},
             permuted_origin(from, {1, 1, 2, 1, 2, 1, 2, 2}, {7, 1, 2, 3, 4, 5, 6, 0}));
}

TEST_CASE("transpose swaps two axes, the last two unless named") {
  const Tensor x = counting({2, 3});
  CHECK(same_bits(transpose(x).value(), Array({3, 2}, {1, 4, 2, 5, 3, 6})));
  CHECK(same_bits(transpose(x, 1, 0).value(), transpose(x).value()));
  CHECK(same_bits(transpose(x, 0, 0).value(), x.value()));
  CHECK(transpose(Tensor(counting({2, 3, 4}))).shape() == Shape{2, 4, 3});
  CHECK(transpose(Tensor(counting({2, 3, 4})), 0).shape() == Shape{4, 3, 2});
  CHECK(transpose(Tensor(counting({2, 3, 4})), 0, 1).shape() == Shape{3, 2, 4});
  CHECK(transpose(Tensor(Array::zeros({0, 3}))).shape() == Shape{3, 0});
}

TEST_CASE("slice takes a stretch of one axis") {
  for (const Shape& from : shapes)
    for (int axis = 0; axis < from.rank(); ++axis)
      for (Dim begin = 0; begin <= std::min<Dim>(from[axis], 3); ++begin)
        for (const Dim end : {begin, (begin + from[axis] + 1) / 2, from[axis]}) {
          const Shape to = from.with(axis, end - begin);
          std::vector<Dim> origin;
          for (Dim i = 0; i < from.size(); ++i) {
            Dim inner = 1;
            for (int later = axis + 1; later < from.rank(); ++later) inner *= from[later];
            const Dim index = i / inner % from[axis];
            if (begin <= index && index < end) origin.push_back(i);
          }
          for (const int named : {axis, axis - from.rank()})
            check_move([&](const Tensors& x) { return slice(x[0], named, begin, end); }, from, to,
                       origin);
        }
  CHECK(same_bits(slice(counting({2, 3}), 1, 1, 3).value(), Array({2, 2}, {2, 3, 5, 6})));
}

TEST_CASE("overlapping slices add their gradients") {
  const auto f = [](const Tensors& x) { return slice(x[0], 0, 0, 3) + slice(x[0], 0, 1, 4); };
  CHECK(same_bits(pass(f, {counting({4})}, Array({3}, {1, 10, 100})).dx[0],
                  Array({4}, {1, 11, 110, 100})));
}

TEST_CASE("a chain of moves is one move") {
  const auto chain = [](const Tensors& x) {
    return reshape(slice(transpose(reshape(x[0], {4, 6})), 0, 1, 5), {2, 8});
  };
  const auto origin = [](Dim i) { return (i % 4) * 6 + 1 + i / 4; };
  std::vector<Dim> origins;
  for (Dim i = 0; i < 16; ++i) origins.push_back(origin(i));
  check_move(chain, {24}, {2, 8}, origins);
}

TEST_CASE("moves obey the rules of every op") {
  const std::vector<Function> moves = {
      [](const Tensors& x) {
        return reshape(x[0], {4, 6});
      },
      [](const Tensors& x) {
        return permute(x[0], {2, 0, 1});
      },
      [](const Tensors& x) { return transpose(x[0], 0, 1); },
      [](const Tensors& x) { return slice(x[0], 1, 1, 3); },
  };
  for (const Function& move : moves) {
    check_rules(move, {uniform({2, 3, 4}, 1)});
    check_rules(move, {Array::full({2, 3, 4}, Real(infinity))});
  }
}

TEST_CASE("a NaN is moved like any number, and no other place hears of it") {
  const auto move = [](const Tensors& x) { return permute(slice(x[0], 1, 1, 3), {2, 0, 1}); };
  const auto count = [](const Array& x) {
    return std::count_if(x.data(), x.data() + x.size(), [](Real v) { return isnan(v); });
  };
  Array x = counting({2, 3, 4}), dy = counting({4, 2, 2});
  x.write()[5] = dy.write()[3] = Real(quiet_nan);  // x[0, 1, 1] and dy[0, 1, 1]
  const Pass found = pass(move, {x}, dy);
  CHECK(count(found.y) == 1);
  CHECK(isnan(found.y.at({1, 0, 0})));
  CHECK(count(found.dx[0]) == 1);
  CHECK(isnan(found.dx[0].at({1, 2, 0})));
}

TEST_CASE("impossible moves are refused") {
  const Tensor x = parameter(counting({2, 3})), row = parameter(counting({3}));
  const auto refused = [](const std::function<void()>& f) {
    return refusal_in_both_modes<ShapeError>(f);
  };
  CHECK(refused([&] {
          reshape(x, {4, 2});
        }) == "reshape: sizes differ: (2, 3) to (4, 2), 6 vs 8 numbers");
  CHECK(refused([&] { reshape(x, {}); }) == "reshape: sizes differ: (2, 3) to (), 6 vs 1 numbers");
  CHECK(refused([&] { reshape(x, {-1, 3}); }) == "Shape: sizes must not be negative: got -1");
  CHECK(refused([&] { permute(x, {0}); }) == "permute: names 1 axes for shape (2, 3)");
  CHECK(refused([&] { permute(x, {}); }) == "permute: names 0 axes for shape (2, 3)");
  CHECK(refused([&] { permute(x, {0, 1, 0}); }) == "permute: names 3 axes for shape (2, 3)");
  CHECK(refused([&] { permute(x, {0, 2}); }) == "permute: no axis 2 in shape (2, 3)");
  CHECK(refused([&] {
          permute(x, {0, -2});
        }) == "permute: an axis is named twice for shape (2, 3)");
  CHECK(refused([&] { transpose(row); }) == "transpose: needs at least two axes: got shape (3)");
  CHECK(refused([&] { transpose(x, 0, 2); }) == "transpose: no axis 2 in shape (2, 3)");
  CHECK(refused([&] { transpose(x, -3); }) == "transpose: no axis -3 in shape (2, 3)");
  CHECK(refused([&] { slice(x, 2, 0, 1); }) == "slice: no axis 2 in shape (2, 3)");
  CHECK(refused([&] { slice(x, 1, -1, 2); }) ==
        "slice: elements -1 to 2 of axis 1 are not inside shape (2, 3)");
  CHECK(refused([&] { slice(x, 1, 0, 4); }) ==
        "slice: elements 0 to 4 of axis 1 are not inside shape (2, 3)");
  CHECK(refused([&] { slice(x, -1, 2, 1); }) ==
        "slice: elements 2 to 1 of axis -1 are not inside shape (2, 3)");
  CHECK(refusal_in_both_modes<GraphError>([] { reshape(Tensor(), {}); }) ==
        "value: this tensor was never given a value");
}
