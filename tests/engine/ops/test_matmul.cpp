#include <cmath>

#include "tests/engine/ops/passes.h"

using namespace tests;

namespace {

Tensor multiply(const Tensors& x) { return matmul(x[0], x[1]); }

Shape lead_of(const Shape& shape) { return shape.without(-1).without(-1); }

// C and, with |A| and |B|, the size of what each of its elements is summed from.
struct ExactProduct {
  Shape shape;
  std::vector<long double> c, size;
};

ExactProduct naive_product(const Array& a, const Array& b) {
  const Dim n = a.dim(-2), k = a.dim(-1), m = b.dim(-1);
  const Shape lead_a = lead_of(a.shape()), lead_b = lead_of(b.shape());
  const Shape lead = broadcast(lead_a, lead_b, "test");
  ExactProduct exact{lead.append({n, m}), {}, {}};
  for (Dim batch = 0; batch < lead.size(); ++batch)
    for (Dim i = 0; i < n; ++i)
      for (Dim j = 0; j < m; ++j) {
        long double c = 0, size = 0;
        for (Dim p = 0; p < k; ++p) {
          const long double term =
              static_cast<long double>(value_of(a[(source(lead_a, lead, batch) * n + i) * k + p])) *
              static_cast<long double>(value_of(b[(source(lead_b, lead, batch) * k + p) * m + j]));
          c += term;
          size += std::abs(term);
        }
        exact.c.push_back(c);
        exact.size.push_back(size);
      }
  return exact;
}

// What broadcasting adds up: a sum over the stretched batches.
ExactProduct summed_to(const ExactProduct& exact, const Shape& shape) {
  const auto count = static_cast<std::size_t>(shape.size());
  ExactProduct sums{shape, std::vector<long double>(count), std::vector<long double>(count)};
  for (std::size_t i = 0; i < exact.c.size(); ++i) {
    const auto at = static_cast<std::size_t>(source(shape, exact.shape, static_cast<Dim>(i)));
    sums.c[at] += exact.c[i];
    sums.size[at] += exact.size[i];
  }
  return sums;
}

// BLAS's test ratio: |found − exact| / (u·K·|A||B|), to be at most 16.
void check_ratio(const char* what, const Array& found, const ExactProduct& exact, Dim k) {
  INFO(what << " " << to_string(exact.shape) << " with K = " << k);
  REQUIRE(found.shape() == exact.shape);
  double worst = 0;
  for (std::size_t i = 0; i < exact.c.size(); ++i) {
    const long double error =
        std::abs(static_cast<long double>(value_of(found[static_cast<Dim>(i)])) - exact.c[i]);
    if (error == 0) continue;
    const auto ratio = static_cast<double>(
        error / (static_cast<long double>(unit) * static_cast<long double>(k) * exact.size[i]));
    worst = ratio > worst || std::isnan(ratio) ? ratio : worst;
  }
  CHECK(worst <= 16);
}

void check_product(const Shape& shape_a, const Shape& shape_b) {
  const Array a = uniform(shape_a, 1), b = uniform(shape_b, 2);
  const ExactProduct c = naive_product(a, b);
  const Array dy = uniform(c.shape, 3);
  const Pass found = pass(multiply, {a, b}, dy);
  const Dim batches = std::max<Dim>(1, lead_of(c.shape).size());
  check_ratio("C", found.y, c, a.dim(-1));
  const Array a_t = transpose(a).value(), b_t = transpose(b).value();
  check_ratio("dA", found.dx[0], summed_to(naive_product(dy, b_t), shape_a), b.dim(-1) * batches);
  check_ratio("dB", found.dx[1], summed_to(naive_product(a_t, dy), shape_b), a.dim(-2) * batches);
}

}  // namespace

TEST_CASE("matmul and its gradients by hand") {
  const Pass found = pass(multiply, {Array({2, 3}, {1, 2, 3, 4, 5, 6}), Array({3, 1}, {1, 0, -1})},
                          Array({2, 1}, {1, 10}));
  CHECK(same_bits(found.y, Array({2, 1}, {-2, -2})));
  CHECK(same_numbers(found.dx[0], Array({2, 3}, {1, 0, -1, 10, 0, -10})));
  CHECK(same_numbers(found.dx[1], Array({3, 1}, {41, 52, 63})));
}

TEST_CASE("matmul of all sizes, with both gradients, within BLAS's bound") {
  for (const Dim n : {0, 1, 2, 3, 8, 17, 33})
    for (const Dim k : {0, 1, 3, 7, 16, 31, 65})
      for (const Dim m : {0, 1, 2, 9, 15, 64}) check_product({n, k}, {k, m});
}

TEST_CASE("matmul broadcasts its leading axes") {
  const std::vector<std::pair<Shape, Shape>> pairs = {{{0}, {0}},
                                                      {{1}, {1}},
                                                      {{3}, {3}},
                                                      {{3}, {}},
                                                      {{}, {3}},
                                                      {{1}, {3}},
                                                      {{3}, {1}},
                                                      {{0}, {1}},
                                                      {{0}, {}},
                                                      {{2, 1}, {3}},
                                                      {{2, 1}, {1, 3}},
                                                      {{2, 3}, {2, 3}},
                                                      {{2, 3}, {}},
                                                      {{}, {2, 3}},
                                                      {{2, 0}, {2, 1}},
                                                      {{4, 1, 2}, {3, 1}},
                                                      {{2, 1, 2, 1, 2, 1}, {1, 2, 1, 2, 1, 2}}};
  for (const auto& [a, b] : pairs)
    for (const auto& [n, k, m] :
         {std::array<Dim, 3>{2, 3, 4}, {1, 5, 1}, {3, 1, 2}, {2, 0, 3}, {0, 2, 3}})
      check_product(a.append({n, k}), b.append({k, m}));
}

TEST_CASE("matmul over nothing is zeros") {
  const Pass found = pass(multiply, {Array::zeros({2, 0}), Array::zeros({0, 3})}, counting({2, 3}));
  CHECK(same_bits(found.y, Array::zeros({2, 3})));
  CHECK(found.dx[0].shape() == Shape{2, 0});
  CHECK(found.dx[1].shape() == Shape{0, 3});
}

TEST_CASE("matmul obeys the rules of every op") {
  check_rules(multiply, {uniform({3, 4}, 1), uniform({4, 2}, 2)});
  check_rules(multiply, {uniform({2, 3, 4}, 1), uniform({4, 2}, 2)});
  check_rules(multiply, {uniform({2, 1, 3, 4}, 1), uniform({3, 4, 2}, 2)});
  check_rules(multiply, {uniform({0, 4}, 1), uniform({4, 2}, 2)});
}

TEST_CASE("matmul of one tensor with itself") {
  const Array x({2, 2}, {1, 2, 3, 4}), dy({2, 2}, {1, 0, 0, 0});
  // y₀₀ = x₀₀² + x₀₁·x₁₀
  const auto square = [](const Tensors& t) { return matmul(t[0], t[0]); };
  CHECK(same_numbers(pass(square, {x}, dy).dx[0], Array({2, 2}, {2, 3, 2, 0})));
  // y₀₀ = x₀₀² + x₀₁²
  const auto gram = [](const Tensors& t) { return matmul(t[0], transpose(t[0])); };
  CHECK(same_numbers(pass(gram, {x}, dy).dx[0], Array({2, 2}, {2, 4, 0, 0})));
}

TEST_CASE("matmul and sums of products are two roads to one answer") {
  const auto composed = [](const Tensors& x) {
    return sum(reshape(x[0], {2, 3, 4, 1}) * reshape(x[1], {2, 1, 4, 5}), {2});
  };
  check_two_roads(multiply, composed, {uniform({2, 3, 4}, 1), uniform({2, 4, 5}, 2)});
}

TEST_CASE("matmul skips no zeros: 0 times infinity is NaN") {
  const double inf = infinity, nan = quiet_nan;
  const Array a({2, 2}, {0, 1, 1, 0}), b({2, 1}, {inf, 1});
  const Pass found = pass(multiply, {a, b}, Array({2, 1}, {0, 1}));
  CHECK(same_numbers(found.y, Array({2, 1}, {nan, inf})));
  CHECK(same_numbers(found.dx[0], Array({2, 2}, {nan, 0, inf, 1})));
  CHECK(same_numbers(found.dx[1], Array({2, 1}, {1, 0})));
}

TEST_CASE("matmul refuses what does not fit") {
  const auto refused = [](const Shape& a, const Shape& b) {
    const Tensors x = {parameter(Array::ones(a)), parameter(Array::ones(b))};
    return refusal_in_both_modes<ShapeError>([&] { multiply(x); });
  };
  const std::string hint = "; reshape a vector to (1, k) or (k, 1)";
  CHECK(refused({3}, {3, 2}) ==
        "matmul: needs matrices (..., n, k) and (..., k, m): (3) x (3, 2)" + hint);
  CHECK(refused({2, 3}, {3}) ==
        "matmul: needs matrices (..., n, k) and (..., k, m): (2, 3) x (3)" + hint);
  CHECK(refused({}, {}) == "matmul: needs matrices (..., n, k) and (..., k, m): () x ()" + hint);
  CHECK(refused({2, 3}, {4, 5}) == "matmul: inner sizes differ: (2, 3) x (4, 5), 3 vs 4");
  CHECK(refused({2, 3}, {2, 3}) ==
        "matmul: inner sizes differ: (2, 3) x (2, 3), 3 vs 2; transposing the second would fit");
  CHECK(refused({4, 2, 0}, {1, 3}) == "matmul: inner sizes differ: (4, 2, 0) x (1, 3), 0 vs 1");
  CHECK(refusal_in_both_modes<GraphError>([] { matmul(Tensor(), 1.0); }) ==
        "value: this tensor was never given a value");
}

TEST_CASE("matmul shows both whole shapes when the leading axes do not broadcast") {
  const Tensor a = parameter(Array::ones({2, 3, 4})), b = parameter(Array::ones({3, 4, 5}));
  const std::string message = refusal_in_both_modes<ShapeError>([&] { matmul(a, b); });
  CHECK_THAT(message, StartsWith("matmul: "));
  CHECK_THAT(message, ContainsSubstring("(2, 3, 4)"));
  CHECK_THAT(message, ContainsSubstring("(3, 4, 5)"));
}
