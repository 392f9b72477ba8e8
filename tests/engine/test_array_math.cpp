#include "engine/array_math.h"

#include <algorithm>
#include <numeric>

#include "engine/base/errors.h"
#include "tests/support/arrays.h"
#include "tests/support/catch.h"
#include "tests/support/refusal.h"

using namespace tests;

namespace {

// The indices of element i of a row-major array of this shape.
std::vector<Dim> indices_of(Dim i, const Shape& shape) {
  std::vector<Dim> index(static_cast<std::size_t>(shape.rank()));
  for (int axis = shape.rank() - 1; axis >= 0; --axis) {
    index[static_cast<std::size_t>(axis)] = i % shape[axis];
    i /= shape[axis];
  }
  return index;
}

// Where an element of a broadcast result comes from: trailing axes, and 0 along those of size 1.
Dim source_of(const std::vector<Dim>& index, const Shape& from) {
  Dim at = 0;
  const int extra = static_cast<int>(index.size()) - from.rank();
  for (int axis = 0; axis < from.rank(); ++axis)
    at = at * from[axis] + (from[axis] == 1 ? 0 : index[static_cast<std::size_t>(axis + extra)]);
  return at;
}

struct ShapePair {
  Shape a, b, result;
};
const std::vector<ShapePair> shape_pairs{
    {{}, {2, 3}, {2, 3}},
    {{1}, {3}, {3}},
    {{3}, {2, 3}, {2, 3}},
    {{2, 1}, {1, 3}, {2, 3}},
    {{2, 3, 1}, {4}, {2, 3, 4}},
    {{1, 1, 1}, {2, 3, 4}, {2, 3, 4}},
    {{2, 1, 4}, {3, 1}, {2, 3, 4}},
    {{2, 1, 2, 1, 3}, {3, 1, 2, 1}, {2, 3, 2, 2, 3}},
    {{0}, {1}, {0}},
    {{0, 3}, {1, 3}, {0, 3}},
    {{2, 0}, {2, 1}, {2, 0}},
    {{}, {}, {}},
    {{5, 7}, {5, 7}, {5, 7}},
};

std::vector<int> axes_in(unsigned subset, int rank) {
  std::vector<int> axes;
  for (int axis = 0; axis < rank; ++axis)
    if ((subset >> axis & 1) != 0) axes.push_back(axis);
  return axes;
}

}  // namespace

TEST_CASE("map applies a function to every number") {
  const Array x({2, 2}, {1, -2, 3, -4});
  CHECK(same_bits(map(x, [](Real v) { return v * v; }), Array({2, 2}, {1, 4, 9, 16})));
  CHECK(map(Array::zeros({0, 3}), [](Real v) { return v; }).shape() == Shape{0, 3});
}

TEST_CASE("zip reads the right element of both sides for every pair of shapes") {
  for (const ShapePair& pair : shape_pairs) {
    const Array a = integers(pair.a, 1), b = integers(pair.b, 2);
    for (const bool swapped : {false, true}) {
      const Array &left = swapped ? b : a, &right = swapped ? a : b;
      const Array y = zip("-", left, right, [](Real p, Real q) { return p - Real(100) * q; });
      CAPTURE(to_string(left.shape()), to_string(right.shape()));
      REQUIRE(y.shape() == pair.result);
      for (Dim i = 0; i < y.size(); ++i) {
        const std::vector<Dim> index = indices_of(i, y.shape());
        const Real p = left[source_of(index, left.shape())];
        const Real q = right[source_of(index, right.shape())];
        REQUIRE(value_of(y[i]) == value_of(p) - 100 * value_of(q));
      }
    }
  }
}

TEST_CASE("the operators of arrays, also of infinities and NaN as IEEE 754 says") {
  const Array a({5}, {1, 2, infinity, 0, quiet_nan}), b({5}, {4, -5, infinity, 0, 1});
  CHECK(same_numbers(a + b, Array({5}, {5, -3, infinity, 0, quiet_nan})));
  CHECK(same_numbers(a - b, Array({5}, {-3, 7, quiet_nan, 0, quiet_nan})));
  CHECK(same_numbers(a * b, Array({5}, {4, -10, infinity, 0, quiet_nan})));
  CHECK(same_numbers(b / a, Array({5}, {4, -2.5, quiet_nan, quiet_nan, quiet_nan})));
  CHECK(same_numbers(-a, Array({5}, {-1, -2, -infinity, 0, quiet_nan})));
  CHECK(same_numbers(a * Real(3), Array({5}, {3, 6, infinity, 0, quiet_nan})));
  CHECK(refusal<ShapeError>([] {
          counting({2, 3}) / counting({2});
        }) == "/: shapes do not broadcast: (2, 3) and (2); sizes 3 and 2 differ and neither is 1");
}

TEST_CASE("broadcast_to repeats numbers along the axes that grow") {
  CHECK(same_bits(broadcast_to(Array({2, 1}, {1, 2}), {2, 3}), Array({2, 3}, {1, 1, 1, 2, 2, 2})));
  CHECK(same_bits(broadcast_to(Array({2}, {1, 2}), {2, 2}), Array({2, 2}, {1, 2, 1, 2})));
  const Array x = counting({3});
  CHECK(broadcast_to(x, {3}).data() == x.data());
}

TEST_CASE("sum_over sums exactly the axes named, which stay as size 1") {
  for (const Shape& shape : {Shape{2, 3, 4, 5}, Shape{3, 1, 2, 2}, Shape{2, 0, 3, 1}, Shape{7}}) {
    const Array x = integers(shape, 3);
    for (unsigned subset = 0; subset < 1u << shape.rank(); ++subset) {
      const std::vector<int> axes = axes_in(subset, shape.rank());
      Shape kept = shape;
      for (const int axis : axes) kept = kept.with(axis, 1);
      std::vector<double> expected(static_cast<std::size_t>(kept.size()), 0.0);
      for (Dim i = 0; i < x.size(); ++i)
        expected[static_cast<std::size_t>(source_of(indices_of(i, shape), kept))] += value_of(x[i]);
      CAPTURE(to_string(shape), subset);
      REQUIRE(same_numbers(sum_over(x, axes), Array(kept, expected)));
    }
  }
}

TEST_CASE("sum_to sums what broadcasting repeated, and nothing else") {
  for (const ShapePair& pair : shape_pairs) {
    const Array dy = integers(pair.result, 4);
    for (const Shape& shape : {pair.a, pair.b}) {
      std::vector<double> expected(static_cast<std::size_t>(shape.size()), 0.0);
      for (Dim i = 0; i < dy.size(); ++i)
        expected[static_cast<std::size_t>(source_of(indices_of(i, dy.shape()), shape))] +=
            value_of(dy[i]);
      CAPTURE(to_string(pair.result), to_string(shape));
      REQUIRE(same_numbers(sum_to(dy, shape), Array(shape, expected)));
    }
  }
}

TEST_CASE("sum_to refuses a shape that was never broadcast to the gradient's") {
  for (const auto& [dy, shape] :
       std::vector<std::pair<Shape, Shape>>{{{2}, {3}}, {{3}, {2, 3}}, {{1, 3}, {2, 3}}}) {
    const Array gradient = Array::zeros(dy);
    const std::string text = refusal<ShapeError>([&, to = shape] { sum_to(gradient, to); });
    CHECK_THAT(text, ContainsSubstring("gradient of shape " + to_string(dy)) &&
                         EndsWith("of shape " + to_string(shape)));
  }
}

TEST_CASE("product multiplies matrices, and leading axes broadcast") {
  struct Case {
    Shape a, b, result;
  };
  const std::vector<Case> cases{
      {{2, 3}, {3, 4}, {2, 4}},          {{1, 1}, {1, 1}, {1, 1}},
      {{5, 2, 3}, {5, 3, 4}, {5, 2, 4}}, {{5, 2, 3}, {3, 4}, {5, 2, 4}},
      {{2, 3}, {5, 3, 4}, {5, 2, 4}},    {{2, 1, 2, 3}, {4, 3, 2}, {2, 4, 2, 2}},
      {{2, 0}, {0, 3}, {2, 3}},          {{0, 3}, {3, 2}, {0, 2}},
      {{3, 2}, {2, 0}, {3, 0}},          {{0, 2, 3}, {3, 2}, {0, 2, 2}},
  };
  for (const Case& c : cases) {
    const Array a = integers(c.a, 5), b = integers(c.b, 6);
    const Array y = product(a, b);
    CAPTURE(to_string(c.a), to_string(c.b));
    REQUIRE(y.shape() == c.result);
    const Dim inner = c.a.dim(-1);
    for (Dim i = 0; i < y.size(); ++i) {
      std::vector<Dim> row = indices_of(i, y.shape()), column = row;
      double expected = 0;
      for (Dim p = 0; p < inner; ++p) {
        row.back() = p;
        column[column.size() - 2] = p;
        expected += value_of(a[source_of(row, c.a)]) * value_of(b[source_of(column, c.b)]);
      }
      REQUIRE(value_of(y[i]) == expected);
    }
  }
}

TEST_CASE("product_of_rows takes the leading axes of an array as more rows") {
  const Array x = integers({2, 3, 4}, 1), w = integers({4, 5}, 2), bias = integers({5}, 3);
  const Array rows = x.with_shape({6, 4}), y = product_of_rows({2, 3, 5}, x, w);
  CHECK(same_bits(y, product(rows, w).with_shape({2, 3, 5})));
  CHECK(same_bits(product_of_rows({2, 3, 5}, x, w, bias), y + bias));
  CHECK(same_bits(product_of_rows({4, 5}, transposed(x), y),
                  product(transposed(rows), y.with_shape({6, 5}))));
  CHECK(same_bits(product_of_rows({2, 3, 4}, y, transposed(w)),
                  product(y.with_shape({6, 5}), transposed(w)).with_shape({2, 3, 4})));
}

TEST_CASE("permuted puts axis order[i] of x at axis i") {
  const Array x = counting({2, 3, 4});
  std::vector<int> order{0, 1, 2};
  do {
    const Array y = permuted(x, order);
    for (Dim i = 0; i < y.size(); ++i) {
      const std::vector<Dim> to = indices_of(i, y.shape());
      std::vector<Dim> from(3);
      for (std::size_t axis = 0; axis < 3; ++axis)
        from[static_cast<std::size_t>(order[axis])] = to[axis];
      REQUIRE(y[i] == x.at({from[0], from[1], from[2]}));
    }
    REQUIRE(same_bits(permuted(y, inverse_order(order)), x));
  } while (std::next_permutation(order.begin(), order.end()));
  CHECK(same_bits(permuted(Array::ones({}), std::vector<int>{}), Array::ones({})));
  CHECK(permuted(Array::zeros({2, 0}), std::vector<int>{1, 0}).shape() == Shape{0, 2});
}

TEST_CASE("a product reads a transposed factor where it lies, for the same bits") {
  const auto turned = [](const Array& x) {
    return permuted(x, x.rank() == 2 ? std::vector<int>{1, 0} : std::vector<int>{0, 2, 1});
  };
  for (const auto& [a, b] : {std::pair{Shape{2, 3}, Shape{3, 4}},
                             {{70, 90}, {90, 80}},
                             {{2, 5, 3}, {2, 3, 4}},
                             {{2, 5, 3}, {3, 4}},
                             {{3, 0}, {0, 2}}}) {
    const Array x = uniform(a, 1), y = uniform(b, 2), expected = product(x, y);
    CHECK(same_bits(product(transposed(turned(x)), y), expected));
    CHECK(same_bits(product(x, transposed(turned(y))), expected));
    CHECK(same_bits(product(transposed(turned(x)), transposed(turned(y))), expected));
  }
  const Array x = counting({2, 3});
  const MatrixOperand operand = transposed(x);
  CHECK(operand.rows() == 3);
  CHECK(operand.columns() == 2);
}
