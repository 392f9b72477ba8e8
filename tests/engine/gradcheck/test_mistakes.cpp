// Mistakes that are named by the gradient they give, and near misses that are not.
#include <cmath>
#include <new>
#include <stdexcept>

#include "engine/array_math.h"
#include "engine/autograd.h"
#include "engine/base/interrupt.h"
#include "engine/gradcheck/diagnosis.h"
#include "engine/ops.h"
#include "tests/support/arrays.h"
#include "tests/support/catch.h"

using namespace tests;

namespace {

using In = const std::vector<Tensor>&;

// C = A·B; each rule as it is, or without its transposition.
Tensor product_of(const Tensor& a, const Tensor& b, bool right_a, bool right_b) {
  const Array A = a.value(), B = b.value();
  return record(
      "product", product(A, B),
      wrt(a,
          [=](const Array& dC) { return right_a ? product(dC, transposed(B)) : product(dC, B); }),
      wrt(b,
          [=](const Array& dC) { return right_b ? product(transposed(A), dC) : product(A, dC); }));
}

// x + b; the rule for b takes the gradient of one row of x only, or the sum of the rows times a factor.
Tensor add_bias(const Tensor& x, const Tensor& b, Dim row, double factor = 1) {
  const Array y = (Tensor(x.value()) + Tensor(b.value())).value();
  const Shape of_bias = b.shape();
  return record("add_bias", y, wrt(x, [](const Array& dy) { return dy; }),
                wrt(b, [=](const Array& dy) {
                  const Dim columns = of_bias.size(), rows = dy.size() / columns;
                  Array db(of_bias);
                  Real* to = db.write();
                  for (Dim j = 0; j < columns; ++j) {
                    to[j] = 0;
                    for (Dim i = 0; i < rows; ++i)
                      if (row < 0 || row == i) to[j] += dy[i * columns + j] * Real(factor);
                  }
                  return db;
                }));
}

std::string uses(const std::string& name) {
  return "the rule uses " + name + " where its transpose belongs, or the transpose where " + name +
         " belongs";
}

const Array left_matrix = uniform({3, 3}, 1), right_matrix = uniform({3, 3}, 2),
            some_rows = uniform({2, 4, 3}, 3), some_bias = uniform({3}, 4);

GradcheckReport check_product_rules(bool right_a, bool right_b, const Array& a, const Array& b) {
  return gradcheck([&](In in) { return product_of(in[0], in[1], right_a, right_b); }, {a, b});
}

std::string cause_of_bias(Dim row, double factor = 1) {
  return gradcheck([=](In in) { return add_bias(in[0], in[1], row, factor); },
                   {some_rows, some_bias})
      .likely_cause;
}

}  // namespace

TEST_CASE("a factor that is not transposed is named") {
  CHECK(check_product_rules(true, true, left_matrix, right_matrix).ok);
  CHECK(check_product_rules(false, true, left_matrix, right_matrix).likely_cause ==
        uses("input 1"));
  CHECK(check_product_rules(true, false, left_matrix, right_matrix).likely_cause ==
        uses("input 0"));
  const auto behind = [](In in) { return product_of(in[0], in[1], false, true) + in[0] * 2.0; };
  CHECK(gradcheck(behind, {left_matrix, right_matrix}).likely_cause == uses("input 1"));
}

TEST_CASE("a symmetric factor is its own transpose: that rule is right") {
  const Array symmetric = right_matrix + transpose(Tensor(right_matrix)).value();
  CHECK(check_product_rules(false, true, left_matrix, symmetric).ok);
  const GradcheckReport report = check_product_rules(true, false, left_matrix, symmetric);
  CHECK(report.likely_cause == uses("input 0"));
}

TEST_CASE("the inputs have their old numbers after a diagnosis") {
  const Tensor a = parameter(left_matrix.clone()), b = parameter(right_matrix.clone());
  CHECK_FALSE(gradcheck([&] { return product_of(a, b, false, true); }, {{"a", a}, {"b", b}}).ok);
  CHECK(same_bits(a.value(), left_matrix));
  CHECK(same_bits(b.value(), right_matrix));
}

TEST_CASE("outside the domain of f a mistake has no gradient") {
  const Tensor a = parameter(left_matrix.clone()), b = parameter(right_matrix.clone());
  const Array v = Array::ones({3, 3});
  const auto gradient = [&](const std::function<Tensor()>& f) {
    return known_mistakes(f, {{"a", a}, {"b", b}}, 0, v).back().gradient(0);
  };
  CHECK(std::isnan(gradient([]() -> Tensor { throw std::invalid_argument("outside"); })));
  CHECK_THROWS_AS(gradient([]() -> Tensor { throw Interrupted(); }), Interrupted);
  CHECK_THROWS_AS(gradient([]() -> Tensor { throw std::bad_alloc(); }), std::bad_alloc);
  CHECK(same_bits(a.value(), left_matrix));
  CHECK(same_bits(b.value(), right_matrix));
}

TEST_CASE(
    "a forgotten sum over a broadcast axis is named: only the first or the last row arrives") {
  CHECK(cause_of_bias(-1).empty());
  CHECK(cause_of_bias(0) ==
        "only the first position along axes 0 to 1 of the output contributes: the sum over a "
        "broadcast axis is missing");
  CHECK(cause_of_bias(7) ==
        "only the last position along axes 0 to 1 of the output contributes: each position "
        "overwrites the one before instead of adding");
  const auto rows = [](In in) { return tanh(add_bias(in[0], in[1], 0)); };
  CHECK(gradcheck(rows, {uniform({4, 3}, 3), some_bias}).likely_cause ==
        "only the first position along axis 0 of the output contributes: the sum over a broadcast "
        "axis is missing");
}

TEST_CASE("near misses of the forgotten sum and of the transposition have other causes or none") {
  CHECK(cause_of_bias(3).empty());  // some row in the middle
  CHECK_THAT(cause_of_bias(-1, 1.0 / 8), ContainsSubstring("a factor of 8"));  // the mean of 8 rows
  CHECK_THAT(cause_of_bias(-1, -1), EndsWith("a sign is wrong"));
  CHECK(cause_of_bias(0, 2).empty());
  const auto scaled = [](In in) { return product_of(in[0] * 1.0, in[1], false, true) * in[2]; };
  CHECK(gradcheck(scaled, {left_matrix, right_matrix, uniform({3, 3}, 5)}).likely_cause ==
        uses("input 1"));
  const auto curved = [](In in) { return tanh(product_of(in[0], in[1], false, true)); };
  const GradcheckReport report = gradcheck(curved, {left_matrix, right_matrix});
  CHECK_FALSE(report.ok);
  CHECK(report.likely_cause.empty());
  CHECK(report.pattern == "9 of 9 elements are wrong");
  // Elementwise, the other rows have no gradient: nothing is broadcast here.
  const auto first_row = [](In in) {
    const Array X = in[0].value();
    return record("square", X * X, wrt(in[0], [X](const Array& dy) {
                    Array dx = dy * X * Real(2);
                    for (Dim j = 3; j < dx.size(); ++j) dx.write()[j] = 0;
                    return dx;
                  }));
  };
  CHECK_THAT(gradcheck(first_row, {uniform({4, 3}, 3)}).likely_cause,
             StartsWith("position 0 along axis 0 is right and all later ones are wrong"));
}
