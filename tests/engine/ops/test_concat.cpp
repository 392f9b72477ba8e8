#include "tests/engine/ops/passes.h"

using namespace tests;

namespace {

Function concat_along(int axis) {
  return [axis](const Tensors& x) { return concat(x, axis); };
}

}  // namespace

TEST_CASE("concat puts one behind the other, and each gets its stretch of the gradient") {
  const Pass rows = pass(concat_along(0), {counting({1, 2}), counting({2, 2})}, counting({3, 2}));
  CHECK(same_bits(rows.y, Array({3, 2}, {1, 2, 1, 2, 3, 4})));
  CHECK(same_bits(rows.dx[0], Array({1, 2}, {1, 2})));
  CHECK(same_bits(rows.dx[1], Array({2, 2}, {3, 4, 5, 6})));

  const Pass columns =
      pass(concat_along(-1), {counting({2, 1}), counting({2, 2})}, counting({2, 3}));
  CHECK(same_bits(columns.y, Array({2, 3}, {1, 1, 2, 2, 3, 4})));
  CHECK(same_bits(columns.dx[0], Array({2, 1}, {1, 4})));
  CHECK(same_bits(columns.dx[1], Array({2, 2}, {2, 3, 5, 6})));

  const Pass empty =
      pass(concat_along(1), {counting({2, 1}), Array::zeros({2, 0})}, counting({2, 1}));
  CHECK(same_bits(empty.y, Array({2, 1}, {1, 2})));
  CHECK(empty.dx[1].shape() == Shape{2, 0});
}

TEST_CASE("concat of slices, and slices of a concat, are what they were made from") {
  for (const Shape& shape : shapes)
    for (int axis = 0; axis < shape.rank(); ++axis) {
      INFO(to_string(shape) << " along " << axis);
      const Array x = integers(shape, 1), dy = integers(shape, 2);
      const Dim length = shape[axis], cut = length / 2;
      const auto cut_and_joined = [&](const Tensors& t) {
        return concat({slice(t[0], axis, 0, cut), slice(t[0], axis, cut, cut),
                       slice(t[0], axis, cut, length)},
                      axis - shape.rank());
      };
      const Pass found = pass(cut_and_joined, {x}, dy);
      CHECK(same_numbers(found.y, x));
      CHECK(same_numbers(found.dx[0], dy));

      const Array other = integers(shape, 3);
      const auto second_of_two = [&](const Tensors& t) {
        return slice(concat(t, axis), axis, length, 2 * length);
      };
      const Pass second = pass(second_of_two, {other, x}, dy);
      CHECK(same_numbers(second.y, x));
      CHECK(same_numbers(second.dx[0], Array::zeros(shape)));
      CHECK(same_numbers(second.dx[1], dy));
    }
}

TEST_CASE("concat of one tensor twice adds both stretches") {
  const auto twice = [](const Tensors& x) { return concat({x[0], x[0]}, 0); };
  CHECK(same_bits(pass(twice, {counting({2})}, Array({4}, {1, 2, 30, 40})).dx[0],
                  Array({2}, {31, 42})));
}

TEST_CASE("concat of one part, and of many") {
  CHECK(same_bits(pass(concat_along(0), {counting({3})}, counting({3})).dx[0], counting({3})));
  const std::vector<Array> parts(1000, Array({1}, {7}));
  const Pass found = pass(concat_along(0), parts, counting({1000}));
  CHECK(same_bits(found.y, Array::full({1000}, 7)));
  for (Dim i = 0; i < 1000; ++i) REQUIRE(found.dx[static_cast<std::size_t>(i)][0] == real(i + 1));
}

TEST_CASE("concat of parameters and constants") {
  const Tensor a = parameter(counting({2})), constant = counting({1});
  backward(concat({constant, a, constant}, 0), Array({4}, {1, 2, 3, 4}));
  CHECK(same_bits(a.grad(), Array({2}, {2, 3})));
  CHECK_FALSE(concat({constant, constant}, 0).needs_grad());
}

TEST_CASE("concat and split obey the rules of every op") {
  check_rules(concat_along(1), {uniform({2, 3, 4}, 1), uniform({2, 1, 4}, 2)});
  check_rules(concat_along(0), {uniform({0, 3}, 1), uniform({2, 3}, 2)});
  check_rules(concat_along(0),
              {Array::full({2}, Real(infinity)), Array::full({3}, Real(quiet_nan))});
  check_rules([](const Tensors& x) { return split(x[0], 3, 1)[1]; }, {uniform({2, 6, 4}, 1)});
}

TEST_CASE("split cuts into equal parts, which concat joins again") {
  const Tensor x = parameter(counting({2, 6}));
  const std::vector<Tensor> pieces = split(x, 3, -1);
  REQUIRE(pieces.size() == 3);
  CHECK(same_bits(pieces[0].value(), Array({2, 2}, {1, 2, 7, 8})));
  CHECK(same_bits(pieces[2].value(), Array({2, 2}, {5, 6, 11, 12})));
  CHECK(same_bits(concat(pieces, 1).value(), x.value()));
  backward(pieces[1], Array({2, 2}, {1, 2, 3, 4}));
  CHECK(same_bits(x.grad(), Array({2, 6}, {0, 0, 1, 2, 0, 0, 0, 0, 3, 4, 0, 0})));

  CHECK(split(x, 1, 0).size() == 1);
  for (const Tensor& nothing : split(Array::zeros({0, 3}), 4, 0))
    CHECK(nothing.shape() == Shape{0, 3});
}

TEST_CASE("parts that do not fit are refused") {
  const auto of = [](const Shape& shape) { return parameter(Array::ones(shape)); };
  const auto refused = [](const std::function<void()>& f) {
    return refusal_in_both_modes<ShapeError>(f);
  };
  CHECK(refused([&] { concat({}, 0); }) == "concat: needs at least one tensor: got none");
  CHECK(refused([&] {
          concat({of({2, 3}), of({2, 4})}, 0);
        }) == "concat: shapes differ off axis 0: (2, 3) and (2, 4)");
  CHECK(refused([&] {
          concat({of({2, 3}), of({2, 3}), of({3, 4})}, -1);
        }) == "concat: shapes differ off axis -1: (2, 3) and (3, 4)");
  CHECK(refused([&] {
          concat({of({2, 3}), of({3})}, 1);
        }) == "concat: shapes differ off axis 1: (2, 3) and (3)");
  CHECK(refused([&] { concat({of({2, 3})}, 2); }) == "concat: no axis 2 in shape (2, 3)");
  CHECK(refused([&] { concat({of({})}, 0); }) == "concat: no axis 0 in shape ()");
  CHECK(refused([&] {
          split(of({2, 3}), 2, 1);
        }) == "split: axis 1 of shape (2, 3) does not split into 2 equal parts");
  CHECK(refused([&] {
          split(of({2, 3}), 0, 0);
        }) == "split: axis 0 of shape (2, 3) does not split into 0 equal parts");
  CHECK(refused([&] {
          split(of({2, 3}), -1, 0);
        }) == "split: axis 0 of shape (2, 3) does not split into -1 equal parts");
  CHECK(refused([&] { split(of({2, 3}), 2, 2); }) == "split: no axis 2 in shape (2, 3)");
  CHECK(refusal_in_both_modes<GraphError>([&] {
          concat({of({2}), Tensor()}, 0);
        }) == "value: this tensor was never given a value");
}
