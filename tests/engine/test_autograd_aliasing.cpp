#include "engine/array_math.h"
#include "engine/autograd.h"
#include "engine/ops.h"
#include "tests/support/arrays.h"
#include "tests/support/catch.h"

using namespace tests;

namespace {

// The gradient of ⟨dy, f(x)⟩ at x, where f uses x in more than one place.
template <class F>
Array gradient(const Array& x, const Array& dy, F f) {
  const Tensor w = parameter(x.clone());
  backward(f(w), dy);
  return w.grad();
}

const Array the_vector = Array({4}, {3, -2, 5, 7});
const Array dy_vector = Array({4}, {2, -1, 4, 3});
const Array the_matrix = Array({3, 3}, {3, -2, 5, 7, 1, -4, 2, 6, -3});
const Array dy_matrix = Array({3, 3}, {2, -1, 4, 3, -5, 1, 0, 2, -2});

}  // namespace

TEST_CASE("x + x, x − x, x·x, x/x") {
  CHECK(same_bits(gradient(the_vector, dy_vector, [](auto x) { return x + x; }),
                  dy_vector * Real(2)));
  CHECK(same_numbers(gradient(the_vector, dy_vector, [](auto x) { return x - x; }),
                     Array::zeros({4})));
  CHECK(same_bits(gradient(the_vector, dy_vector, [](auto x) { return x * x; }),
                  dy_vector * the_vector * Real(2)));
  CHECK(close(gradient(the_vector, dy_vector, [](auto x) { return x / x; }), Array::zeros({4})));
  const Tensor w = parameter(the_vector.clone());
  CHECK(same_numbers((w - w).value(), Array::zeros({4})));
  CHECK(same_bits((w / w).value(), Array::ones({4})));
}

TEST_CASE("x·x·x and sums of products count every place") {
  CHECK(same_bits(gradient(the_vector, dy_vector, [](auto x) { return x * x * x; }),
                  dy_vector * the_vector * the_vector * Real(3)));
  CHECK(same_bits(gradient(the_vector, dy_vector, [](auto x) { return x * x + x - x * 3.0; }),
                  dy_vector * (the_vector * Real(2) - Array::full({4}, Real(2)))));
}

TEST_CASE("xˣ: base and exponent are one tensor") {
  const Array x({3}, {0.5, 1, 2.5}), dy({3}, {2, -1, 3});
  std::vector<double> expected;
  for (Dim i = 0; i < 3; ++i) {
    const double v = value_of(x[i]);
    expected.push_back(value_of(dy[i]) * std::pow(v, v) * (std::log(v) + 1));
  }
  CHECK(close(gradient(x, dy, [](auto w) { return pow(w, w); }), Array({3}, expected)));
}

TEST_CASE("matmul(x, x) and matmul(x, xᵀ)") {
  const Array xt = transpose(the_matrix).value(), dyt = transpose(dy_matrix).value();
  CHECK(same_bits(gradient(the_matrix, dy_matrix, [](auto x) { return matmul(x, x); }),
                  product(dy_matrix, xt) + product(xt, dy_matrix)));
  CHECK(same_bits(gradient(the_matrix, dy_matrix, [](auto x) { return matmul(x, transpose(x)); }),
                  product(dy_matrix + dyt, the_matrix)));
  CHECK(same_bits(gradient(the_matrix, dy_matrix, [](auto x) { return matmul(transpose(x), x); }),
                  product(the_matrix, dy_matrix + dyt)));
}

TEST_CASE("concat(x, x) and stacks of overlapping slices") {
  const Array dy({8}, {1, 2, 3, 4, 50, 60, 70, 80});
  CHECK(same_bits(gradient(the_vector, dy,
                           [](auto x) {
                             return concat({x, x}, 0);
                           }),
                  Array({4}, {51, 62, 73, 84})));
  const Array overlapping({6}, {1, 2, 3, 40, 50, 60});
  CHECK(same_bits(gradient(the_vector, overlapping,
                           [](auto x) {
                             return concat({slice(x, 0, 0, 3), slice(x, 0, 1, 4)}, 0);
                           }),
                  Array({4}, {1, 42, 53, 60})));
}

TEST_CASE("where(c, x, x) is x, whatever c") {
  const Array condition({4}, {1, 0, 0, 1});
  CHECK(same_bits(gradient(the_vector, dy_vector, [&](auto x) { return where(condition, x, x); }),
                  dy_vector));
  CHECK(
      same_bits(gradient(the_vector, dy_vector, [&](auto x) { return where(condition, x, x * x); }),
                Array({4}, {2, 4, 40, 3})));
}

TEST_CASE("attention of a tensor with itself") {
  const auto with = [](const Tensor& q, const Tensor& k, const Tensor& v) {
    return weighted_sum(softmax(attention_scores(q, k, causal()), causal()), v, causal());
  };
  const Array x = uniform({3, 3}, 1), dy = uniform({3, 3}, 2);
  const Tensor q = parameter(x.clone()), k = parameter(x.clone()), v = parameter(x.clone());
  backward(with(q, k, v), dy);
  const Array one = gradient(x, dy, [&](auto w) { return with(w, w, w); });
  CHECK(close(one, q.grad() + k.grad() + v.grad()));
}

TEST_CASE("an embedding whose table is also the output matrix") {
  const Array table = integers({4, 3}, 3), dy = integers({2, 4}, 4);
  const Tensor in = parameter(table.clone()), out = parameter(table.clone());
  backward(matmul(embedding(in, {2, 1}), transpose(out)), dy);
  const Array tied = gradient(table, dy, [](auto w) {
    return matmul(embedding(w, {2, 1}), transpose(w));
  });
  CHECK(same_bits(tied, in.grad() + out.grad()));
}

TEST_CASE("a chain of moves is undone in reverse order") {
  const Array x = integers({2, 3, 4}, 5), dy = integers({3, 2}, 6);
  const Array one = gradient(x, dy, [](auto w) {
    const Tensor turned = reshape(transpose(w, 0, 2), {6, 4});
    return reshape(slice(transpose(turned), 0, 1, 2), {3, 2}) * 2.0;
  });
  // Row i of `turned` holds element (i·4 + 1) of the turned array; that is w[c, b, a] at (a, b, c).
  Array expected = Array::zeros({2, 3, 4});
  Real* to = expected.write();
  for (Dim i = 0; i < 6; ++i) {
    const Dim at = i * 4 + 1, a = at / 6, b = at / 2 % 3, c = at % 2;
    to[c * 12 + b * 4 + a] += Real(2) * dy[i];
  }
  CHECK(same_bits(one, expected));
}

TEST_CASE("broadcasting sums the gradient over exactly the axes that were stretched") {
  const Array dy({2, 3}, {1, 2, 3, 40, 50, 60});
  const auto of = [&](const Shape& shape) {
    return gradient(Array::zeros(shape), dy, [](auto x) {
      return x + Tensor(Array::zeros({2, 3}));
    });
  };
  CHECK(same_bits(of({3}), Array({3}, {41, 52, 63})));
  CHECK(same_bits(of({1, 3}), Array({1, 3}, {41, 52, 63})));
  CHECK(same_bits(of({2, 1}), Array({2, 1}, {6, 150})));
  CHECK(same_bits(of({1, 1}), Array({1, 1}, {156})));
  CHECK(same_bits(of({1}), Array({1}, {156})));
  CHECK(same_bits(of({}), Array({}, {156})));
  CHECK(same_bits(of({2, 3}), dy));
}

TEST_CASE("broadcasting undone on both sides, with factors") {
  const Tensor a = parameter(Array({2, 1}, {2, 3})), b = parameter(Array({3}, {5, 7, 11}));
  const Array dy({2, 3}, {1, 2, 3, 40, 50, 60});
  backward(a * b, dy);
  CHECK(same_bits(a.grad(), Array({2, 1}, {1 * 5 + 2 * 7 + 3 * 11, 40 * 5 + 50 * 7 + 60 * 11})));
  CHECK(same_bits(b.grad(), Array({3}, {2 * 1 + 3 * 40, 2 * 2 + 3 * 50, 2 * 3 + 3 * 60})));
}

TEST_CASE("one tensor on both sides, stretched differently") {
  const Array x({3, 1}, {2, 3, 5}), dy = integers({3, 3}, 7);
  const Array found = gradient(x, dy, [](auto w) { return w - reshape(w, {1, 3}) * 2.0; });
  const Array rows = sum_to(dy, {3, 1}), columns = sum_to(dy, {1, 3}).with_shape({3, 1});
  CHECK(same_bits(found, rows - columns * Real(2)));
}

TEST_CASE("broadcasting to no elements gives zeros") {
  CHECK(same_bits(gradient(Array({1}, {4}), Array::zeros({0}),
                           [](auto x) { return x * Tensor(Array::zeros({0})); }),
                  Array({1}, {0})));
  CHECK(gradient(Array::zeros({2, 0}), Array::zeros({2, 0}), [](auto x) {
          return x * x;
        }).shape() == Shape{2, 0});
}
