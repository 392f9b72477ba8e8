// Mistakes that are named by the gradient they give: near misses, and what a diagnosis leaves behind.
// The mistakes themselves are rows of test_gradcheck_bench.cpp.
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

// C = A·B; the rule for A takes B for Bᵀ, that for B is right.
Tensor untransposed_product(const Tensor& a, const Tensor& b) {
  const Array A = a.value(), B = b.value();
  return record("product", product(A, B), wrt(a, [=](const Array& dC) { return product(dC, B); }),
                wrt(b, [=](const Array& dC) { return product(transposed(A), dC); }));
}

// x + b; the rule for b takes the gradient of one row of x only, or the sum of the rows; times a factor.
Tensor add_bias(const Tensor& x, const Tensor& b, Dim row, double factor) {
  const Shape of_bias = b.shape();
  return record("add_bias", x.value() + b.value(), wrt(x, [](const Array& dy) { return dy; }),
                wrt(b, [=](const Array& dy) {
                  Array db = Array::zeros(of_bias);
                  const Dim columns = of_bias.size();
                  for (Dim i = 0; i < dy.size(); ++i)
                    if (row < 0 || row == i / columns)
                      db.write()[i % columns] += dy[i] * Real(factor);
                  return db;
                }));
}

std::string cause_of(const std::function<Tensor(In)>& f, const std::vector<Array>& inputs) {
  return gradcheck(f, inputs).likely_cause;
}

const Array left_matrix = uniform({3, 3}, 1), right_matrix = uniform({3, 3}, 2);

}  // namespace

TEST_CASE("a factor that is not transposed is named behind other ops, if no curve hides it") {
  const std::string uses =
      "the rule uses input 1 where its transpose belongs, or the transpose where input 1 belongs";
  const std::vector<Array> three{left_matrix, right_matrix, uniform({3, 3}, 5)};
  const auto product = [](In in) { return untransposed_product(in[0], in[1]); };
  const auto behind = [](In in) {
    return untransposed_product(in[0] * 1.0, in[1]) * in[2] + in[0] * 2.0;
  };
  CHECK(cause_of(product, {left_matrix, right_matrix}) == uses);
  CHECK(cause_of(behind, three) == uses);
  const Array symmetric = right_matrix + transpose(Tensor(right_matrix)).value();
  CHECK(gradcheck(product, {left_matrix, symmetric}).ok);  // its own transpose
  const auto curved = [=](In in) { return tanh(product(in)); };
  const GradcheckReport report = gradcheck(curved, {left_matrix, right_matrix});
  CHECK_FALSE(report.ok);
  CHECK(report.likely_cause.empty());
  CHECK(report.pattern == "9 of 9 elements are wrong");
}

TEST_CASE("the inputs have their old numbers after a diagnosis, also where f throws") {
  const Tensor a = parameter(left_matrix.clone()), b = parameter(right_matrix.clone());
  const std::vector<NamedTensor> named{{"a", a}, {"b", b}};
  CHECK_FALSE(gradcheck([&] { return untransposed_product(a, b); }, named).ok);
  const auto gradient = [&](const std::function<Tensor()>& f) {
    return known_mistakes(f, named, 0, Array::ones({3, 3})).back().gradient(0);
  };
  // Outside the domain of f a mistake has no gradient.
  CHECK(std::isnan(gradient([]() -> Tensor { throw std::invalid_argument("outside"); })));
  CHECK_THROWS_AS(gradient([]() -> Tensor { throw Interrupted(); }), Interrupted);
  CHECK_THROWS_AS(gradient([]() -> Tensor { throw std::bad_alloc(); }), std::bad_alloc);
  CHECK(same_bits(a.value(), left_matrix));
  CHECK(same_bits(b.value(), right_matrix));
}

TEST_CASE(
    "a forgotten sum over a broadcast axis is named: only the first or the last row arrives") {
  const auto cause_of_bias = [](Dim row, double factor = 1) {
    return cause_of([=](In in) { return add_bias(in[0], in[1], row, factor); },
                    {uniform({2, 4, 3}, 3), uniform({3}, 4)});
  };
  CHECK(cause_of_bias(-1).empty());
  CHECK(cause_of_bias(0) ==
        "only the first position along axes 0 to 1 of the output contributes: the sum over a "
        "broadcast axis is missing");
  CHECK(cause_of_bias(7) ==
        "only the last position along axes 0 to 1 of the output contributes: each position "
        "overwrites the one before instead of adding");
  CHECK(cause_of_bias(3).empty());  // some row in the middle
  CHECK(cause_of_bias(0, 2).empty());
  CHECK_THAT(cause_of_bias(-1, 1.0 / 8), ContainsSubstring("a factor of 8"));  // the mean of 8 rows
  CHECK_THAT(cause_of_bias(-1, -1), EndsWith("a sign is wrong"));
  // Elementwise, the other rows have no gradient: nothing is broadcast here.
  const auto first_row = [](In in) {
    const Array X = in[0].value();
    return record("square", X * X, wrt(in[0], [X](const Array& dy) {
                    Array dx = dy * X * Real(2);
                    for (Dim j = 3; j < dx.size(); ++j) dx.write()[j] = 0;
                    return dx;
                  }));
  };
  CHECK_THAT(cause_of(first_row, {uniform({4, 3}, 3)}),
             StartsWith("position 0 along axis 0 is right and all later ones are wrong"));
}
