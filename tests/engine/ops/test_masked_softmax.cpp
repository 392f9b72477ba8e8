#include <cmath>

#include "tests/engine/ops/passes.h"

using namespace tests;

namespace {

Function masked(const Mask& mask) {
  return [mask](const Tensors& x) { return softmax(x[0], mask); };
}

// The same through elementary ops, from a table of 1 (may look) and 0.
Function composed_masked(const Array& visible) {
  return [visible](const Tensors& x) {
    const Tensor e = where(visible, exp(x[0]), 0.0);
    return e / sum(e, {-1}, true);
  };
}

// Query 0 sees all four keys, 1 none, 2 the outer two, 3 one, 4 the last three.
const std::vector<bool> looks = {true,  true, true,  true,  false, false, false, false, true, false,
                                 false, true, false, false, true,  false, false, true,  true, true};
const Mask five_by_four = custom(5, 4, looks);

Array poisoned(const Array& x, const Array& visible, double poison) {
  Array y = x.clone();
  Real* to = y.write();
  for (Dim i = 0; i < y.size(); ++i)
    if (visible[i % visible.size()] == Real(0)) to[i] = Real(poison);
  return y;
}

}  // namespace

TEST_CASE("masked softmax by hand") {
  const Array x({2, 3},
                {std::log(1.0), std::log(3.0), 99, std::log(1.0), std::log(2.0), std::log(5.0)});
  const Pass found = pass(masked(causal()), {x}, Array({2, 3}, {4, 8, 1e30, 8, 0, 16}));
  CHECK(close(found.y, Array({2, 3}, {0.25, 0.75, 0, 0.125, 0.25, 0.625})));
  CHECK(close(found.dx[0], Array({2, 3}, {-0.75, 0.75, 0, -0.375, -2.75, 3.125})));
  CHECK(found.y[2] == Real(0));
  CHECK(found.dx[0][2] == Real(0));
}

TEST_CASE("masked softmax and elementary ops are two roads to one answer") {
  const Shape shape{2, 3, 4, 5};
  for (const Mask& mask : {Mask(), causal(), window(2), padding({3, 5}), causal() & padding({2, 5}),
                           causal() & window(3)})
    check_two_roads(masked(mask), composed_masked(table_of(mask, shape)), {uniform(shape, 1)});
  for (const Shape& tall : {Shape{3, 5}, Shape{2, 1, 7}, Shape{4, 4}})
    check_two_roads(masked(causal()), composed_masked(table_of(causal(), tall)),
                    {uniform(tall, 1)});
}

TEST_CASE("softmax with a mask that hides nothing is softmax") {
  for (const Shape& shape : {Shape{3, 5}, Shape{2, 3, 65}, Shape{4, 1}, Shape{2, 0}, Shape{0, 3}}) {
    const auto plain = [](const Tensors& x) { return softmax(x[0]); };
    const std::vector<Array> x = {uniform(shape, 1, -20, 20)};
    check_two_roads(masked(Mask()), plain, x);
    CHECK(same_bits(value(masked(Mask()), x), value(plain, x)));
  }
}

TEST_CASE("a hidden score is not read") {
  const Shape shape{3, 5, 4};
  const Array visible = table_of(five_by_four, {5, 4});
  const Array x = uniform(shape, 1), dy = uniform(shape, 2);
  const Pass clean =
      pass(masked(five_by_four), {poisoned(x, visible, 0)}, poisoned(dy, visible, 0));
  for (const double poison : {quiet_nan, infinity, -infinity, 1e30}) {
    const Pass found =
        pass(masked(five_by_four), {poisoned(x, visible, poison)}, poisoned(dy, visible, poison));
    CHECK(same_bits(found.y, clean.y));
    CHECK(same_bits(found.dx[0], clean.dx[0]));
  }
}

TEST_CASE("hidden keys have weight and gradient exactly 0, and a row without keys is zeros") {
  const Array x = uniform({5, 4}, 1), visible = table_of(five_by_four, {5, 4});
  const Pass found = pass(masked(five_by_four), {x}, uniform({5, 4}, 2));
  const Array zero = Array::zeros({1});
  for (Dim i = 0; i < 20; ++i) {
    if (visible[i] != Real(0)) continue;
    CHECK(same_bits(Array::full({1}, found.y[i]), zero));
    CHECK(same_bits(Array::full({1}, found.dx[0][i]), zero));
  }
  CHECK(found.y.at({3, 2}) == Real(1));
  CHECK(close(sum(found.y, {1}).value(), Array({5}, {1, 0, 1, 1, 1}), 4 * unit));

  const Mask nowhere = custom(2, 3, std::vector<bool>(6, false));
  const Pass none = pass(masked(nowhere), {Array::full({2, 3}, Real(quiet_nan))},
                         Array::full({2, 3}, Real(infinity)));
  CHECK(same_bits(none.y, Array::zeros({2, 3})));
  CHECK(same_bits(none.dx[0], Array::zeros({2, 3})));
}

TEST_CASE("a row of masked softmax is that of what it sees, to the bit") {
  const Array x = uniform({33, 33}, 1), dy = uniform({33, 33}, 2);
  const Pass found = pass(masked(causal()), {x}, dy);
  for (Dim r = 0; r < 33; ++r) {
    const auto seen = [r](const Array& of) {
      return slice(slice(of, 0, r, r + 1), 1, 0, r + 1).value();
    };
    const Pass alone = pass(masked(Mask()), {seen(x)}, seen(dy));
    CHECK(same_bits(alone.y, seen(found.y)));
    CHECK(same_bits(alone.dx[0], seen(found.dx[0])));
  }
}

TEST_CASE("visible scores travel as IEEE 754 says") {
  const double inf = infinity, nan = quiet_nan;
  const auto check = [](const std::vector<double>& x, const std::vector<double>& y) {
    const Pass found =
        pass(masked(custom(1, 3, {true, true, false})), {Array({1, 3}, x)}, Array::ones({1, 3}));
    CHECK(same_numbers(found.y, Array({1, 3}, y)));
    CHECK(found.dx[0][2] == Real(0));
  };
  check({1e4, -1e4, nan}, {1, 0, 0});
  check({-inf, 0, inf}, {0, 1, 0});
  check({-inf, -inf, 0}, {nan, nan, 0});
  check({nan, 0, 0}, {nan, nan, 0});
  check({inf, 0, 0}, {nan, nan, 0});
}

TEST_CASE("masked softmax obeys the rules of every op") {
  check_rules(masked(five_by_four), {uniform({2, 5, 4}, 1)});
  check_rules(masked(causal()), {uniform({0, 3, 4}, 1)});
  check_rules(masked(causal()), {uniform({2, 3, 0}, 1)});
  check_rules(masked(padding({0, 2})), {uniform({2, 3, 4}, 1)});
  check_rules(masked(five_by_four),
              {poisoned(uniform({5, 4}, 1), table_of(five_by_four, {5, 4}), quiet_nan)});
}

TEST_CASE("masked softmax refuses masks that do not fit") {
  const auto refused = [](const Shape& shape, const Mask& mask) {
    const Tensor x = parameter(Array::ones(shape));
    return refusal_in_both_modes<ShapeError>([&] { softmax(x, mask); });
  };
  CHECK(refused({3}, causal()) ==
        "softmax: a mask needs scores (..., queries, keys): got shape (3)");
  CHECK(refused({}, Mask()) == "softmax: a mask needs scores (..., queries, keys): got shape ()");
  CHECK(
      refused({4, 5}, five_by_four) ==
      "softmax: a custom mask (5, 4) does not fit scores of shape (4, 5); its rows are queries, its "
      "columns keys");
  CHECK(
      refused({3, 4}, padding({1, 2, 3})) ==
      "softmax: a padding mask of 3 lengths needs scores (3, ..., queries, keys): got shape (3, 4)");
  CHECK(
      refused({2, 3, 4}, padding({1, 2, 3})) ==
      "softmax: a padding mask of 3 lengths needs scores (3, ..., queries, keys): got shape (2, 3, 4)");
  CHECK(refused({2, 3, 4}, padding({1, 5})) ==
        "softmax: a padding length of 5 exceeds the keys of shape (2, 3, 4)");
  CHECK(
      refused({5, 4}, causal() & five_by_four & padding({1})) ==
      "softmax: a padding mask of 1 lengths needs scores (1, ..., queries, keys): got shape (5, 4)");
  CHECK(refusal_in_both_modes<GraphError>([] { softmax(Tensor(), causal()); }) ==
        "value: this tensor was never given a value");
}
