#include <cmath>

#include "tests/engine/ops/passes.h"

using namespace tests;

namespace {

Function cosine(int axis) {
  return [axis](const Tensors& x) { return cosine_similarity(x[0], x[1], axis); };
}

}  // namespace

TEST_CASE("cosine similarity by hand") {
  const Pass found =
      pass(cosine(-1), {Array({3, 2}, {3, 4, 1, 0, 2, 2}), Array({3, 2}, {3, 4, 0, 5, -1, -1})},
           Array::ones({3}));
  CHECK(close(found.y, Array({3}, {1, 0, -1})));
  // d cos / da = (b̂ − cos·â) / |a|, and the same with a and b exchanged
  CHECK(close(found.dx[0], Array({3, 2}, {0, 0, 0, 1, 0, 0})));
  CHECK(close(found.dx[1], Array({3, 2}, {0, 0, 0.2, 0, 0, 0})));
}

TEST_CASE("cosine similarity along every axis, with closed gradients") {
  const Array a = uniform({2, 3, 4}, 1), b = uniform({2, 3, 4}, 2);
  for (const int axis : {0, 1, 2, -1, -2, -3}) {
    const int along = axis < 0 ? axis + 3 : axis;
    const Shape kept = a.shape().with(along, 1);
    const Array dy = uniform(kept, 3);
    std::vector<double> product(static_cast<std::size_t>(kept.size())), a2 = product, b2 = product;
    const auto at = [&](Dim i) { return static_cast<std::size_t>(source(kept, a.shape(), i)); };
    for (Dim i = 0; i < a.size(); ++i) {
      product[at(i)] += value_of(a[i]) * value_of(b[i]);
      a2[at(i)] += value_of(a[i]) * value_of(a[i]);
      b2[at(i)] += value_of(b[i]) * value_of(b[i]);
    }
    std::vector<double> y, da, db;
    for (std::size_t j = 0; j < product.size(); ++j)
      y.push_back(product[j] / std::sqrt(a2[j] * b2[j]));
    for (Dim i = 0; i < a.size(); ++i) {
      const std::size_t j = at(i);
      const double d = value_of(dy[static_cast<Dim>(j)]), norms = std::sqrt(a2[j] * b2[j]);
      da.push_back(d * (value_of(b[i]) / norms - y[j] * value_of(a[i]) / a2[j]));
      db.push_back(d * (value_of(a[i]) / norms - y[j] * value_of(b[i]) / b2[j]));
    }
    const Pass found = pass(cosine(axis), {a, b}, dy.with_shape(kept.without(along)));
    CHECK(close(found.y, Array(kept.without(along), y)));
    CHECK(close(found.dx[0], Array(a.shape(), da)));
    CHECK(close(found.dx[1], Array(b.shape(), db)));
  }
}

TEST_CASE("cosine similarity of broadcast vectors is that of the stretched ones") {
  const auto stretch = [](const Tensor& x, const Shape& shape) { return x + Array::zeros(shape); };
  const std::vector<std::pair<Shape, Shape>> pairs = {
      {{2, 3}, {1, 3}}, {{2, 1, 3}, {1, 4, 3}}, {{2, 1}, {2, 3}}, {{1, 1}, {2, 3}}};
  for (const auto& [a, b] : pairs) {
    INFO(to_string(a) << " and " << to_string(b));
    const Shape common = broadcast(a, b, "test");
    const auto stretched_first = [&](const Tensors& x) {
      return cosine_similarity(stretch(x[0], common), stretch(x[1], common));
    };
    // A vector that is one number, stretched, never turns: its gradient is 0 but for rounding.
    const std::vector<Array> x = {uniform(a, 1), uniform(b, 2)};
    const Array dy = uniform(common.without(-1), 3);
    const Pass found = pass(cosine(-1), x, dy), expected = pass(stretched_first, x, dy);
    CHECK(close(found.y, expected.y));
    CHECK(close(found.dx[0], expected.dx[0]));
    CHECK(close(found.dx[1], expected.dx[1]));
  }
}

TEST_CASE("cosine similarity obeys the rules of every op") {
  check_rules(cosine(-1), {uniform({3, 4}, 1), uniform({3, 4}, 2)});
  check_rules(cosine(0), {uniform({3, 4}, 1), uniform({3, 4}, 2)});
  check_rules(cosine(-1), {uniform({0, 4}, 1), uniform({0, 4}, 2)});
}

TEST_CASE("cosine similarity of a tensor with itself has no gradient") {
  const auto itself = [](const Tensors& x) { return cosine_similarity(x[0], x[0]); };
  const Pass found = pass(itself, {uniform({5, 4}, 1)}, uniform({5}, 2));
  CHECK(close(found.y, Array::ones({5})));
  CHECK(close(found.dx[0], Array::zeros({5, 4})));
}

TEST_CASE("a vector of zeros has no direction") {
  const Pass found = pass(cosine(-1), {Array({2, 2}, {0, 0, 1, 0}), Array({2, 2}, {1, 0, 1, 0})},
                          Array::ones({2}));
  CHECK(isnan(found.y[0]));
  CHECK(isnan(found.dx[0][0]));
  CHECK(found.y[1] == Real(1));
  CHECK(found.dx[0][2] == Real(0));
}

TEST_CASE("cosine similarity does not depend on the vectors' lengths") {
  std::vector<double> scales = {1, 1e12, 1e-12, 1e20, 1e-20, 1e30, 1e-30, 3e37, 1e-37};
  if (sizeof(Real) != sizeof(float)) scales.insert(scales.end(), {1e-200, 1e200, 1e-300, 3e307});
  for (const double scale : scales)
    for (const double other : {1.0, scale, 1 / scale}) {
      CAPTURE(scale, other);
      const Array a({3}, {scale, 2 * scale, 3 * scale}), b({3}, {3 * other, other, 2 * other});
      const Pass found = pass(cosine(-1), {a, b}, Array({}, {scale}));
      CHECK(close(found.y, Array({}, {11.0 / 14})));
      const std::vector<double> turn = {(3 - 11.0 / 14) / 14, (1 - 22.0 / 14) / 14,
                                        (2 - 33.0 / 14) / 14};
      CHECK(close(found.dx[0], Array({3}, turn)));
    }
}

TEST_CASE("cosine similarity is never above 1 or below -1, and moves there like elsewhere") {
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    const Array x = uniform({100, 8}, seed);
    for (const double factor : {1.0, -1.0, 3.0, -0.1}) {
      const Array y = (Tensor(x) * factor).value();
      const Array cosines = cosine_similarity(x, y).value();
      for (Dim i = 0; i < cosines.size(); ++i) {
        REQUIRE(std::abs(value_of(cosines[i])) <= 1);
        REQUIRE(std::abs(value_of(cosines[i])) >= 1 - 8 * unit);
      }
    }
  }
  // In float the quotient for (0, 2, 3) and itself rounds to 1 + 2⁻²³.
  const Array a({1, 3}, {0, 2, 3});
  const Pass found = pass(cosine(-1), {a, a}, Array::ones({1}));
  CHECK(found.y[0] == Real(1));
  CHECK(close(found.dx[0], Array::zeros({1, 3})));
}

TEST_CASE("cosine similarity refuses what does not fit") {
  const auto refused = [](const Shape& a, const Shape& b, int axis) {
    const Tensor x = parameter(Array::ones(a)), y = parameter(Array::ones(b));
    return refusal_in_both_modes<ShapeError>([&] { cosine_similarity(x, y, axis); });
  };
  CHECK(refused({2, 3}, {2, 4}, -1) ==
        "cosine_similarity: shapes do not broadcast: (2, 3) and (2, 4); sizes 3 and 4 differ and "
        "neither is 1");
  CHECK(refused({}, {}, -1) == "cosine_similarity: needs vectors: () and ()");
  CHECK(refused({2, 3}, {3}, -1) == "cosine_similarity: needs equal ranks: (2, 3) and (3)");
  CHECK(refused({2, 3}, {2, 3}, 2) == "cosine_similarity: no axis 2 in shape (2, 3)");
  CHECK(refused({2, 3}, {2, 3}, -3) == "cosine_similarity: no axis -3 in shape (2, 3)");
  CHECK(refusal_in_both_modes<GraphError>([] { cosine_similarity(Tensor(), 1.0); }) ==
        "value: this tensor was never given a value");
}
