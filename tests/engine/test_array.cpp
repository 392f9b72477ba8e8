#include "engine/array.h"

#include <algorithm>
#include <cstdint>
#include <functional>
#include <sstream>
#include <thread>
#include <utility>

#include "engine/array_math.h"
#include "engine/autograd.h"
#include "engine/base/errors.h"
#include "engine/ops.h"
#include "tests/support/arrays.h"
#include "tests/support/catch.h"
#include "tests/support/refuses.h"

using namespace tests;

TEST_CASE("an array holds its numbers row by row") {
  const Array a({2, 3}, {1, 2, 3, 4, 5, 6});
  CHECK(a.shape() == Shape{2, 3});
  CHECK((a.size() == 6 && a.rank() == 2 && a.dim(-1) == 3));
  CHECK((a.at({0, 2}) == Real(3) && a.at({1, 0}) == Real(4) && a[5] == Real(6)));
  CHECK(to_vector(a) == std::vector<double>{1, 2, 3, 4, 5, 6});
  CHECK(reinterpret_cast<std::uintptr_t>(a.data()) % 64 == 0);  // a cache line
  CHECK(broadcast_to(a, {2, 3}).data() == a.data());
  CHECK(same_bits(Array::full({2, 2}, Real(7)), Array({2, 2}, {7, 7, 7, 7})));
  CHECK(same_bits(Array::zeros({3}), Array({3}, std::vector<double>{0, 0, 0})));
  CHECK(same_bits(Array::ones({}), Array({}, {1})));
  CHECK(Array::ones({}).at({}) == Real(1));
  CHECK(Array({1, 1}, {5}).item() == Real(5));
  CHECK(Array::zeros({0, 3}).size() == 0);
}

TEST_CASE("numbers and indices that do not fit a shape are refused") {
  const Array a = counting({2, 3});
  const Dim most = std::numeric_limits<Dim>::max();
  const Shape half{most / 2, 2};
  const std::vector<double> none, one{1}, three{1, 2, 3};
  const auto misfit = [](const std::function<void()>& call, const auto&... says) {
    CHECK(refuses<ShapeError>(call, says...));
  };
  misfit([&] { Array(a.shape(), three); }, "Array: shape (2, 3) holds 6 numbers: got 3");
  misfit([&] { Array({0}, one); }, "Array: shape (0) holds 0 numbers: got 1");
  misfit([&] { Array({}, none); }, "Array: shape () holds 1 numbers: got 0");
  misfit([&] { a.at({1}); }, "at: 2 indices for shape (2, 3): got 1");
  misfit([&] { a.at({0, 0, 0}); }, "at: 2 indices for shape (2, 3): got 3");
  misfit([] { counting({2}).item(); }, "item: ", "(2)");
  misfit([] { Array::zeros({0}).item(); }, "item: ", "(0)");
  misfit([&] { a.with_shape({7}); }, "with_shape: sizes differ: (2, 3) to (7)");

  const auto impossible = [](const std::function<void()>& call, const auto&... says) {
    CHECK(refuses<ValueError>(call, says...));
  };
  impossible([&] { Array(Shape{most}); }, "Array: too many elements", "9223372036854775807");
  impossible([&] { Array b(half); }, "Array: too many elements", "9223372036854775806");
  for (const Dim i : {Dim{-1}, Dim{6}, most})
    impossible([&] { a[i]; }, "[]: index " + std::to_string(i) + " is outside shape (2, 3)");
  impossible([] { Array::zeros({0})[0]; }, "[]: index 0 is outside shape (0)");
  impossible([&] { a.at({0, 3}); }, "at: index 3 of axis 1 is outside shape (2, 3)");
  impossible([&] { a.at({-1, 0}); }, "at: index -1 of axis 0 is outside shape (2, 3)");
}

TEST_CASE(
    "a copy is a handle to the same numbers, which may not be written while there are two; a clone "
    "has numbers of its own") {
  Array a = counting({2, 3});
  const Array clone = a.clone();
  CHECK((a.is_unique() && clone.is_unique() && a.data() != clone.data()));
  for (const Shape& shape : {Shape{2, 3}, Shape{3, 2}}) {
    Array b = shape == a.shape() ? a : a.with_shape(shape);
    CHECK(b.shape() == shape);
    CHECK(a.data() == b.data());
    CHECK_FALSE(a.is_unique());
    for (Array* const handle : {&a, &b})
      CHECK(refuses<GraphError>([&] { handle->write(); }, "write: these values are shared",
                                "run backward() or drop the result", "clone()"));
  }
  CHECK(a.is_unique());
  Array c = a.with_shape({6});
  a = Array();
  CHECK(c.is_unique());  // and the numbers live on
  c = c.with_shape({1, 6});
  c.write()[5] = Real(9);
  CHECK(same_bits(c, Array({1, 6}, {1, 2, 3, 4, 5, 9})));
  CHECK(same_bits(clone, counting({2, 3})));
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

TEST_CASE("an array that does not exist has no numbers, and can only be assigned and printed") {
  Array none;
  CHECK_FALSE((none.exists() || none.is_unique()));
  CHECK(none.size() == 0);
  CHECK(to_string(none) == "no array");
  Array copy = none;
  copy = counting({2});
  Array& same = copy;
  copy = same;  // assigning an array to itself keeps it
  CHECK((copy.size() == 2 && copy.is_unique()));
  none = std::move(copy);
  CHECK(copy.size() == 0);  // NOLINT(bugprone-use-after-move): what was moved away does not exist
  CHECK(same_bits(none, counting({2})));
  CHECK(Array::zeros({0}).exists());
}

TEST_CASE("every use of an array that does not exist is refused by name") {
  Array none;
  const Array two = counting({2}), square = counting({2, 2});
  const std::vector<int> no_axes;
  const Tensor p = parameter(two), q = parameter(two);
  const auto product_with_none = [none](const Array& dy) { return dy * none; };
  const std::string never = ": this array was never given values",
                    needs_two = ": needs two arrays: the ",
                    second = "second was never given values";
  const auto check = [](const std::string& text, const std::vector<std::function<void()>>& calls) {
    for (const auto& call : calls) CHECK(refusal<ValueError>(call) == text);
  };
  check("shape" + never,
        {[&] { none.rank(); }, [&] { none.dim(0); }, [&] { none[0]; }, [&] { none.at({}); },
         [&] { none.clone(); }, [&] { -none; }, [&] { none* Real(2); },
         [&] { broadcast_to(none, {2}); }, [&] { sum_to(none, {}); },
         [&] { product(square, none); }, [&] { permuted(none, no_axes); }});
  check("data" + never, {[&] { none.data(); }, [&] { to_vector(none); }});
  check("write" + never, {[&] { none.write(); }});
  check("item" + never, {[&] { none.item(); }});
  check("with_shape" + never, {[&] { none.with_shape({0}); }});
  check("+" + needs_two + second, {[&] { two + none; }});
  check("/" + needs_two + "first was never given values", {[&] { none / none; }});
  check("sum_over: needs an array: got none", {[&] { sum_over(none, no_axes); }});
  check("parameter: needs an array: got none", {[&] { parameter(none); }});
  check("set_grad: needs an array: got none", {[&] { p.set_grad(none); }});
  check("mine: needs a value to record: got no array", {[&] { record("mine", none); }});
  check("backward: the cotangent is no array", {[&] { backward(p * 2.0, none); }});
  check("backward: in a rule of 'mine': *" + needs_two + second,
        {[&] { backward(record("mine", two, wrt(p, product_with_none)), two); }});
  check("where: the condition is no array", {[&] { where(none, p, q); }});
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

TEST_CASE("random_uniform stays between its ends, far apart and near") {
  Rng rng(3);
  const double most = sizeof(Real) == sizeof(float) ? 3e38 : 1.7e308;
  for (const auto& [low, high] :
       {std::pair{1000.0, 1000.001}, {-0.1, 0.1}, {-most, most}, {5, 5}}) {
    CAPTURE(low, high);
    const Array y = random_uniform({20'000}, low, high, rng);
    const auto [least, largest] = std::minmax_element(y.data(), y.data() + y.size());
    CHECK((*least >= Real(low) && *largest <= Real(high)));
    CHECK(*largest >= Real(low / 2 + high / 2));
  }
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

TEST_CASE("a number beside an array, on either side") {
  const Array x({3}, {1, 2, 4});
  CHECK(same_bits(Real(2) * x, x * Real(2)));
  CHECK(same_bits(x + Real(1), Array({3}, {2, 3, 5})));
  CHECK(same_bits(Real(1) + x, x + Real(1)));
  CHECK(same_bits(x - Real(1), Array({3}, {0, 1, 3})));
  CHECK(same_bits(Real(1) - x, Array({3}, {0, -1, -3})));
}

TEST_CASE("a stream shows rows on lines, and leaves out the middle of what is long") {
  const auto shown = [](const auto& what) {
    std::ostringstream out;
    out << what;
    return out.str();
  };
  CHECK(shown(Shape{2, 3}) == "(2, 3)");
  CHECK(shown(Array({}, {1.5})) == "1.5");
  CHECK(shown(Tensor(counting({2, 3}))) == "[[1, 2, 3],\n [4, 5, 6]]");
  CHECK(shown(counting({8})) == "[1, 2, 3, 4, 5, 6, 7, 8]");
  CHECK(shown(counting({9})) == "[1, 2, 3, ..., 7, 8, 9]");
  CHECK(shown(counting({9, 1})) == "[[1],\n [2],\n [3],\n ...,\n [7],\n [8],\n [9]]");
  CHECK(shown(counting({1, 2, 2})) == "[[[1, 2],\n  [3, 4]]]");
  CHECK(shown(Array::zeros({2, 0})) == "[] (2, 0)");
  CHECK((shown(Array()) == "no array" && shown(Tensor()) == "no array"));
}
