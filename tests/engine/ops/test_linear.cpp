#include <cmath>

#include "tests/engine/ops/passes.h"

using namespace tests;

namespace {

Tensor with_bias(const Tensors& x) { return linear(x[0], x[1], x[2]); }
Tensor without_bias(const Tensors& x) { return linear(x[0], x[1]); }
Tensor likeness(const Tensors& x) { return matmul_transposed(x[0], x[1]); }

// x as rows of a matrix, the product, and the leading axes again.
Tensor tall(const Tensor& x, const Tensor& weight) {
  const Shape lead = x.shape().without(-1);
  return reshape(matmul(reshape(x, {lead.size(), x.dim(-1)}), weight),
                 lead.append({weight.dim(1)}));
}

const std::vector<Shape> leads = {{}, {1}, {0}, {7}, {33}, {2, 3}, {2, 0}, {2, 3, 4}, {1, 1, 5}};

}  // namespace

TEST_CASE("linear and matmul_transposed by hand") {
  const Array x({2, 2}, {1, 2, 3, 4}), W({2, 3}, {1, 0, 2, 0, 1, 3}), b({3}, {10, 20, 30});
  const Pass found = pass(with_bias, {x, W, b}, Array({2, 3}, {1, 0, 0, 0, 1, 10}));
  CHECK(same_bits(found.y, Array({2, 3}, {11, 22, 38, 13, 24, 48})));
  CHECK(same_numbers(found.dx[0], Array({2, 2}, {1, 0, 20, 31})));
  CHECK(same_numbers(found.dx[1], Array({2, 3}, {1, 3, 30, 2, 4, 40})));
  CHECK(same_numbers(found.dx[2], Array({3}, {1, 1, 10})));

  const Array table({3, 2}, {1, 0, 0, 1, 2, 3});
  const Pass like = pass(likeness, {x, table}, Array({2, 3}, {1, 0, 0, 0, 1, 10}));
  CHECK(same_bits(like.y, Array({2, 3}, {1, 2, 8, 3, 4, 18})));
  CHECK(same_numbers(like.dx[0], Array({2, 2}, {1, 0, 20, 31})));
  CHECK(same_numbers(like.dx[1], Array({3, 2}, {1, 2, 3, 4, 30, 40})));
}

TEST_CASE("linear and a product with a bias added are two roads to one answer") {
  for (const Shape& lead : leads)
    for (const auto& [in, out] : {std::pair<Dim, Dim>{1, 1}, {3, 2}, {17, 33}, {65, 7}, {300, 9}}) {
      INFO(to_string(lead) << ", " << in << " to " << out);
      const Array x = uniform(lead.append({in}), 1), W = uniform({in, out}, 2);
      check_two_roads(with_bias, [](const Tensors& t) { return tall(t[0], t[1]) + t[2]; },
                      {x, W, uniform({out}, 3)});
      check_two_roads(without_bias, [](const Tensors& t) { return tall(t[0], t[1]); }, {x, W});
      check_two_roads(likeness, [](const Tensors& t) { return tall(t[0], transpose(t[1])); },
                      {x, uniform({out, in}, 2)});
    }
}

TEST_CASE("linear of whole numbers is exact, its bias among them") {
  for (const Dim rows : {1, 5, 100})
    for (const Dim in : {1, 9, 257, 600}) {
      const Array x = integers({rows, in}, 1), W = integers({in, 70}, 2), b = integers({70}, 3);
      const Array y = value(with_bias, {x, W, b});
      bool exact = true;
      for (Dim i = 0; i < y.size(); ++i) {
        double sum = value_of(b[i % 70]);
        for (Dim p = 0; p < in; ++p)
          sum += value_of(x[i / 70 * in + p]) * value_of(W[p * 70 + i % 70]);
        exact = exact && value_of(y[i]) == sum;
      }
      INFO(rows << " rows of " << in);
      CHECK(exact);
    }
}

TEST_CASE("linear and matmul_transposed of no rows and of no features") {
  const Pass none = pass(with_bias, {Array::zeros({2, 0, 3}), uniform({3, 4}, 1), uniform({4}, 2)},
                         Array({2, 0, 4}));
  CHECK(none.y.shape() == Shape{2, 0, 4});
  CHECK(none.dx[0].shape() == Shape{2, 0, 3});
  CHECK(same_bits(none.dx[1], Array::zeros({3, 4})));
  CHECK(same_bits(none.dx[2], Array::zeros({4})));

  const Array b({2}, {5, -7});
  const Pass bias_alone =
      pass(with_bias, {Array::zeros({3, 0}), Array::zeros({0, 2}), b}, counting({3, 2}));
  CHECK(same_bits(bias_alone.y, Array({3, 2}, {5, -7, 5, -7, 5, -7})));
  CHECK(same_bits(bias_alone.dx[2], Array({2}, {9, 12})));
  CHECK(same_bits(value(without_bias, {Array::zeros({3, 0}), Array::zeros({0, 2})}),
                  Array::zeros({3, 2})));
  CHECK(same_bits(value(likeness, {Array::zeros({3, 0}), Array::zeros({2, 0})}),
                  Array::zeros({3, 2})));
}

TEST_CASE("linear of a row of zeros is its bias, to the bit") {
  for (const Dim in : {1, 8, 300}) {
    const Array b = uniform({5}, 3);
    CHECK(same_bits(value(with_bias, {Array::zeros({in}), uniform({in, 5}, 1), b}), b));
  }
}

TEST_CASE("a row of linear does not depend on the rows around it, to the bit") {
  const Array x = uniform({100, 65}, 1), W = uniform({65, 70}, 2), b = uniform({70}, 3);
  const Array table = uniform({70, 65}, 4);
  const Array all = value(with_bias, {x, W, b}), like = value(likeness, {x, table});
  const auto rows = [](const Array& from, Dim begin, Dim end) {
    return slice(Tensor(from), 0, begin, end).value();
  };
  for (const auto& [begin, end] : {std::pair<Dim, Dim>{0, 1}, {50, 51}, {3, 20}, {7, 100}}) {
    CHECK(same_bits(value(with_bias, {rows(x, begin, end), W, b}), rows(all, begin, end)));
    CHECK(same_bits(value(likeness, {rows(x, begin, end), table}), rows(like, begin, end)));
  }
}

TEST_CASE("linear and matmul_transposed obey the rules of every op") {
  for (const Shape& lead : {Shape{}, Shape{5}, Shape{2, 3}, Shape{0}, Shape{2, 1, 2}}) {
    const Array x = uniform(lead.append({4}), 1);
    check_rules(with_bias, {x, uniform({4, 3}, 2), uniform({3}, 3)});
    check_rules(without_bias, {x, uniform({4, 3}, 2)});
    check_rules(likeness, {x, uniform({3, 4}, 2)});
  }
}

TEST_CASE("matmul_transposed of a table with itself counts both roles") {
  // y_ij = ⟨t_i, t_j⟩, so dT = (dY + dYᵀ)·T
  const Array t = integers({3, 2}, 1), dy = integers({3, 3}, 2);
  const Pass found = pass([](const Tensors& x) { return matmul_transposed(x[0], x[0]); }, {t}, dy);
  const Tensor both = Tensor(dy) + transpose(Tensor(dy));
  CHECK(same_numbers(found.dx[0], matmul(both, Tensor(t)).value()));
}

TEST_CASE("linear and matmul_transposed skip no zeros: 0 times infinity is NaN") {
  const double inf = infinity, nan = quiet_nan;
  CHECK(same_numbers(
      value(with_bias, {Array({2, 2}, {0, 1, 1, 0}), Array({2, 1}, {inf, 1}), Array({1}, {3})}),
      Array({2, 1}, {nan, inf})));
  CHECK(same_numbers(value(likeness, {Array({2, 2}, {0, 1, 1, 0}), Array({1, 2}, {inf, 1})}),
                     Array({2, 1}, {nan, inf})));
}

TEST_CASE("linear and matmul_transposed refuse what does not fit") {
  const auto of = [](const Shape& shape) { return parameter(Array::ones(shape)); };
  const auto refused = [&](const Shape& x, const Shape& weight, const Tensor& bias = {}) {
    return refusal_in_both_modes<ShapeError>([&] { linear(of(x), of(weight), bias); });
  };
  const std::string sizes = "linear: inner sizes differ: ";
  CHECK(refused({2, 3}, {4, 5}) == sizes + "(2, 3) x (4, 5)");
  CHECK(refused({5, 4}, {5, 4}) == sizes + "(5, 4) x (5, 4)");
  CHECK(refused({}, {1, 2}) == sizes + "() x (1, 2)");
  CHECK(refused({3}, {3}) == sizes + "(3) x (3)");
  CHECK(refused({2, 3}, {1, 3, 4}) == sizes + "(2, 3) x (1, 3, 4)");
  const std::string must = "linear: the bias must have shape (4): got ";
  CHECK(refused({2, 3}, {3, 4}, of({3})) == must + "(3)");
  CHECK(refused({2, 3}, {3, 4}, of({1})) == must + "(1)");
  CHECK(refused({2, 3}, {3, 4}, of({1, 4})) == must + "(1, 4)");
  CHECK(refused({2, 3}, {3, 4}, 1.0) == must + "()");

  const auto refused_transposed = [&](const Shape& x, const Shape& table) {
    return refusal_in_both_modes<ShapeError>([&] { matmul_transposed(of(x), of(table)); });
  };
  const std::string last = "matmul_transposed: last axes differ: ";
  CHECK(refused_transposed({2, 3}, {3, 4}) == last + "(2, 3) and (3, 4)");
  CHECK(refused_transposed({}, {1, 1}) == last + "() and (1, 1)");
  CHECK(refused_transposed({3}, {3}) == last + "(3) and (3)");
  CHECK(refused_transposed({2, 3}, {2, 2, 3}) == last + "(2, 3) and (2, 2, 3)");

  const std::string never = "value: this tensor was never given a value";
  CHECK(refusal_in_both_modes<GraphError>([&] { linear(Tensor(), of({1, 1})); }) == never);
  CHECK(refusal_in_both_modes<GraphError>([&] { linear(of({1}), Tensor()); }) == never);
  CHECK(refusal_in_both_modes<GraphError>([&] {
          matmul_transposed(Tensor(), of({1, 1}));
        }) == never);
  CHECK(refusal_in_both_modes<GraphError>([&] { matmul_transposed(of({1}), Tensor()); }) == never);
}
