#include "engine/array.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <functional>
#include <thread>
#include <utility>

#include "engine/array_math.h"
#include "engine/autograd.h"
#include "engine/base/errors.h"
#include "engine/ops.h"
#include "tests/support/arrays.h"
#include "tests/support/catch.h"
#include "tests/support/refusal.h"

using namespace tests;

namespace {
const std::string shared_message =
    "write: these values are shared, with a graph that still needs them or with another Array: run "
    "backward() or drop the result first, and keep copies with clone()";
}  // namespace

TEST_CASE("an array holds its numbers row by row") {
  const Array a({2, 3}, {1, 2, 3, 4, 5, 6});
  CHECK(a.shape() == Shape{2, 3});
  CHECK(a.size() == 6);
  CHECK(a.rank() == 2);
  CHECK(a.dim(-1) == 3);
  CHECK(a.at({0, 2}) == Real(3));
  CHECK(a.at({1, 0}) == Real(4));
  CHECK(a[5] == Real(6));
  CHECK(to_vector(a) == std::vector<double>{1, 2, 3, 4, 5, 6});
  CHECK(same_bits(a, Array({2, 3}, std::vector<double>{1, 2, 3, 4, 5, 6})));
}

TEST_CASE("arrays full of one number") {
  CHECK(same_bits(Array::full({2, 2}, Real(7)), Array({2, 2}, {7, 7, 7, 7})));
  CHECK(same_bits(Array::zeros({3}), Array({3}, {0, 0, 0})));
  CHECK(same_bits(Array::ones({}), Array({}, {1})));
  CHECK(Array::zeros({0, 3}).size() == 0);
}

TEST_CASE("a count of numbers that is not the shape's is refused") {
  CHECK(refusal<ShapeError>([] {
          Array({2, 3}, {1, 2, 3});
        }) == "Array: shape (2, 3) holds 6 numbers: got 3");
  CHECK(refusal<ShapeError>([] { Array({0}, {1}); }) == "Array: shape (0) holds 0 numbers: got 1");
  CHECK(refusal<ShapeError>([] { Array({}, std::vector<double>{}); }) ==
        "Array: shape () holds 1 numbers: got 0");
}

TEST_CASE("an array that no memory could hold is refused") {
  const Dim most = std::numeric_limits<Dim>::max();
  CHECK(refusal<ValueError>([&] { Array(Shape{most}); }) ==
        "Array: too many elements to hold in memory: 9223372036854775807");
  CHECK(refusal<ValueError>([&] {
          Array(Shape{most / 2, 2});
        }) == "Array: too many elements to hold in memory: 9223372036854775806");
}

TEST_CASE("at() names an index that is outside") {
  const Array a = counting({2, 3});
  CHECK(refusal<ValueError>([&] {
          a.at({0, 3});
        }) == "at: index 3 of axis 1 is outside shape (2, 3)");
  CHECK(refusal<ValueError>([&] {
          a.at({-1, 0});
        }) == "at: index -1 of axis 0 is outside shape (2, 3)");
  CHECK(refusal<ShapeError>([&] { a.at({1}); }) == "at: 2 indices for shape (2, 3): got 1");
  CHECK(refusal<ShapeError>([&] { a.at({0, 0, 0}); }) == "at: 2 indices for shape (2, 3): got 3");
  CHECK(Array::ones({}).at({}) == Real(1));
  for (const Dim i : {Dim{-1}, Dim{6}, std::numeric_limits<Dim>::max()})
    CHECK(refusal<ValueError>([&] { a[i]; }) ==
          "[]: index " + std::to_string(i) + " is outside shape (2, 3)");
  CHECK(refusal<ValueError>([] { Array::zeros({0})[0]; }) == "[]: index 0 is outside shape (0)");
}

TEST_CASE("the item() of an array is for exactly one number") {
  CHECK(Array({1, 1}, {5}).item() == Real(5));
  CHECK(refusal<ShapeError>([] { counting({2}).item(); }) ==
        "item: needs exactly one number: got shape (2)");
  CHECK(refusal<ShapeError>([] { Array::zeros({0}).item(); }) ==
        "item: needs exactly one number: got shape (0)");
}

TEST_CASE("a copy is a handle to the same numbers") {
  const Array a = counting({3});
  const Array b = a;
  CHECK(a.data() == b.data());
  CHECK_FALSE(a.is_unique());
}

TEST_CASE("a shared block may not be written") {
  Array a = counting({3});
  CHECK(a.is_unique());
  {
    Array b = a;
    CHECK(refusal<GraphError>([&] { a.write(); }) == shared_message);
    CHECK(refusal<GraphError>([&] { b.write(); }) == shared_message);
  }
  CHECK(a.is_unique());
  a.write()[1] = Real(9);
  CHECK(same_bits(a, Array({3}, {1, 9, 3})));
}

TEST_CASE("the same block under another shape is still shared") {
  Array a = counting({2, 3});
  Array b = a.with_shape({3, 2});
  CHECK(b.shape() == Shape{3, 2});
  CHECK(b.data() == a.data());
  CHECK(refusal<GraphError>([&] { b.write(); }) == shared_message);
  CHECK(refusal<GraphError>([&] { a.write(); }) == shared_message);
  Array c = b.with_shape({6});
  b = Array();
  a = Array();
  CHECK(c.is_unique());  // and the numbers live on
  CHECK(same_bits(c, counting({6})));
  c = c.with_shape({1, 6});
  c.write()[5] = Real(7);
  CHECK(c[5] == Real(7));
  CHECK(refusal<ShapeError>([&] { c.with_shape({7}); }) ==
        "with_shape: sizes differ: (1, 6) to (7)");
}

// ThreadSanitizer sees a race here if the handle's count alone permits to write.
TEST_CASE("a block may be written once another thread has read it and dropped its handle") {
  for (int round = 0; round < 100; ++round) {
    Array mine = Array::ones({8});
    double sum = 0;
    std::thread reader([copy = mine, &sum]() mutable {
      for (Dim i = 0; i < copy.size(); ++i) sum += value_of(copy[i]);
      copy = Array();
    });
    while (!mine.is_unique()) std::this_thread::yield();
    mine.write()[3] = Real(2);
    reader.join();
    REQUIRE(sum == 8);
    REQUIRE(value_of(mine[3]) == 2);
  }
}

TEST_CASE("a clone has a block of its own") {
  const Array a = counting({2, 2});
  Array b = a.clone();
  CHECK(same_bits(a, b));
  CHECK(a.data() != b.data());
  b.write()[0] = Real(9);
  CHECK(same_bits(a, counting({2, 2})));
}

TEST_CASE("a moved array leaves nothing behind; assigning an array to itself keeps it") {
  Array a = counting({2});
  const Array b = std::move(a);
  CHECK(same_bits(b, counting({2})));
  Array c = counting({2});
  Array& same = c;
  c = same;
  CHECK(same_bits(c, counting({2})));
  CHECK(c.is_unique());
}

TEST_CASE("blocks start at a cache line") {
  for (const Dim size : {0, 1, 3, 17, 64, 1000}) {
    const Array a = Array::zeros({size});
    CHECK(reinterpret_cast<std::uintptr_t>(a.data()) % 64 == 0);
  }
}

TEST_CASE("an array that does not exist has no numbers, and can only be assigned and printed") {
  Array none;
  CHECK_FALSE(none.exists());
  CHECK(none.size() == 0);
  CHECK_FALSE(none.is_unique());
  CHECK(to_string(none) == "no array");
  Array copy = none;
  copy = counting({2});
  CHECK(copy.size() == 2);
  none = std::move(copy);
  CHECK(copy.size() == 0);  // NOLINT(bugprone-use-after-move): what was moved away does not exist
  CHECK(Array::zeros({0}).exists());
}

TEST_CASE("every use of an array that does not exist is refused by name") {
  Array none;
  const Array two = counting({2}), square = counting({2, 2});
  const std::vector<int> no_axes, axes{0};
  const Tensor p = parameter(two), q = parameter(two);
  const auto unfilled = [&](auto rule) { return record("mine", two, wrt(p, rule)); };
  const auto product_with_none = [none](const Array& dy) { return dy * none; };
  const auto joint = [none](const Array& dy, std::array<bool, 2>) { return std::array{dy, none}; };
  struct Use {
    std::string text;
    std::function<void()> call;
  };
  const std::string shape = "shape: this array was never given values";
  const std::vector<Use> uses = {
      {shape, [&] { none.shape(); }},
      {shape, [&] { none.rank(); }},
      {shape, [&] { none.dim(0); }},
      {"data: this array was never given values", [&] { none.data(); }},
      {"write: this array was never given values", [&] { none.write(); }},
      {shape, [&] { none[0]; }},
      {shape, [&] { none.at({0}); }},
      {shape, [&] { none.at({}); }},
      {"item: this array was never given values", [&] { none.item(); }},
      {"with_shape: this array was never given values", [&] { none.with_shape({0}); }},
      {shape, [&] { none.clone(); }},
      {"data: this array was never given values", [&] { to_vector(none); }},
      // array_math.h
      {shape, [&] { map(none, [](Real v) { return v; }); }},
      {"f: needs two arrays: the second was never given values",
       [&] { zip("f", two, none, [](Real a, Real) { return a; }); }},
      {"+: needs two arrays: the second was never given values", [&] { two + none; }},
      {"-: needs two arrays: the first was never given values", [&] { none - two; }},
      {"*: needs two arrays: the second was never given values", [&] { two* none; }},
      {"*: needs two arrays: the second was never given values", [&] { Array::ones({}) * none; }},
      {"/: needs two arrays: the first was never given values", [&] { none / none; }},
      {shape, [&] { -none; }},
      {shape, [&] { none* Real(2); }},
      {shape, [&] { broadcast_to(none, {2}); }},
      {"sum_over: needs an array: got none", [&] { sum_over(none, no_axes); }},
      {"sum_over: needs an array: got none", [&] { sum_over(none, axes); }},
      {shape, [&] { sum_to(none, {}); }},
      {shape, [&] { product(square, none); }},
      {shape, [&] { product(transposed(none), square); }},
      {shape,
       [&] {
         product_of_rows({2, 2}, none, square);
       }},
      {shape, [&] { permuted(none, no_axes); }},
      // tensor.h and autograd.h
      {"parameter: needs an array: got none", [&] { parameter(none); }},
      {"set_grad: needs an array: got none", [&] { p.set_grad(none); }},
      {"mine: needs a value to record: got no array", [&] { record("mine", none); }},
      {"mine: needs a value to record: got no array",
       [&] { record("mine", none, wrt(p, [](const Array& dy) { return dy; })); }},
      {"backward: the cotangent is no array", [&] { backward(p * 2.0, none); }},
      {"backward: in a rule of 'mine': *: needs two arrays: the second was never given values",
       [&] { backward(unfilled(product_with_none), two); }},
      {"backward: in a rule of 'mine': rule: must return the gradient of an argument of shape (2): "
       "got no array",
       [&] { backward(unfilled([](const Array&) { return Array(); }), two); }},
      {"backward: in a rule of 'mine': rule: must return the gradient of an argument of shape (2): "
       "got no array",
       [&] {
         backward(record("mine", two, wrt({p, q}, joint)), two);
       }},
      // ops.h, where it takes arrays
      {"where: the condition is no array", [&] { where(none, p, q); }},
  };
  for (const Use& use : uses) {
    INFO(use.text);
    CHECK(refusal<ValueError>(use.call) == use.text);
  }
  CHECK_FALSE(p.has_grad());
}

TEST_CASE("random arrays take one draw after another") {
  Rng rng(8), same(8);
  const Array u = random_uniform({2, 3}, -1, 3, rng);
  for (Dim i = 0; i < u.size(); ++i) CHECK(u[i] == Real(-1 + 4 * same.uniform()));
  const Array n = random_normal({4}, 10, 0.5, rng);
  for (Dim i = 0; i < n.size(); ++i)
    CHECK_THAT(value_of(n[i]), WithinAbs(10 + 0.5 * same.normal(), rounding));
  CHECK(random_normal({0}, 0, 1, rng).size() == 0);
}

TEST_CASE("random_uniform never returns the upper end") {
  Rng rng(3);
  const Array x = random_uniform({600'000}, 0, 1, rng);  // in float draw 566,559 rounds to 1
  CHECK(std::all_of(x.data(), x.data() + x.size(), [](Real v) { return v < Real(1); }));
  const double most = sizeof(Real) == sizeof(float) ? 3e38 : 1.7e308;
  for (const auto& [low, high] : {std::pair{1000.0, 1000.001},
                                  {1.0, 1.0001},
                                  {-0.1, 0.1},
                                  {1.0, 1 + 0x1p-51},
                                  {-most, most}}) {
    CAPTURE(low, high);
    const Array y = random_uniform({20'000}, low, high, rng);
    for (Dim i = 0; i < y.size(); ++i) {
      if (!(value_of(y[i]) < high && y[i] >= Real(low))) FAIL(digits(y[i]));
    }
    CHECK(*std::max_element(y.data(), y.data() + y.size()) >= Real(low / 2 + high / 2));
  }
  CHECK(same_bits(random_uniform({2}, 5, 5, rng), Array({2}, {5, 5})));
}

TEST_CASE("arrays print with nested brackets") {
  CHECK(to_string(Array({}, {5})) == "5");
  CHECK(to_string(Array({3}, {1, 0.5, -2})) == "[1, 0.5, -2]");
  CHECK(to_string(counting({2, 2})) == "[[1, 2], [3, 4]]");
  CHECK(to_string(counting({2, 1, 2})) == "[[[1, 2]], [[3, 4]]]");
  CHECK(to_string(Array({1}, {1.0 / 3})) == "[0.333333]");
  CHECK(to_string(Array::zeros({0, 3})) == "[] (0, 3)");
  CHECK(to_string(Array({2}, {infinity, -infinity})) == "[inf, -inf]");
}
