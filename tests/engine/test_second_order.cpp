// The tangents of a gradient are Hessian-vector products: H·u, for parameters that move along u.
#include "engine/array_math.h"
#include "engine/autograd.h"
#include "engine/ops.h"
#include "tests/support/arrays.h"
#include "tests/support/catch.h"

using namespace tests;

namespace {

// A parameter at x, moving along u.
Tensor moving(const Array& x, const Array& u) {
  Array both = x.clone();
  Real* to = both.write();
  for (Dim i = 0; i < x.size(); ++i) to[i].tangent = u[i].value;
  return parameter(both);
}

std::vector<double> tangents(const Array& x) {
  std::vector<double> speeds;
  for (Dim i = 0; i < x.size(); ++i) speeds.push_back(x[i].tangent);
  return speeds;
}

// H·u of f at x.
template <class F>
Array hessian_times(F f, const Array& x, const Array& u) {
  const Tensor w = moving(x, u);
  backward(f(w));
  return Array(x.shape(), tangents(w.grad()));
}

double dot(const Array& a, const Array& b) { return value_of(sum_to(a * b, {}).item()); }

}  // namespace

TEST_CASE("H·u of ½⟨x, A·x⟩ is A·u for a symmetric A") {
  const Array half = uniform({4, 4}, 3), A = half + transpose(half).value();
  const Array x = uniform({4, 1}, 4), u = uniform({4, 1}, 5);
  const auto form = [&](const Tensor& w) {
    return sum(matmul(transpose(w), matmul(Tensor(A), w))) * 0.5;
  };
  CHECK(close(hessian_times(form, x, u), product(A, u)));
}

TEST_CASE("a Hessian is symmetric: ⟨v, H·u⟩ = ⟨u, H·v⟩ through every smooth op") {
  const Tensor context(uniform({3, 4}, 6));
  const auto loss = [&](const Tensor& w) {
    const Tensor q = matmul(context, w), k = gelu(q) + gelu_tanh(q * 0.5);
    const Tensor weights = softmax(attention_scores(q, k, causal()), causal());
    const Tensor mixed = layer_norm(weighted_sum(weights, tanh(k), causal()), Tensor(counting({4})),
                                    Tensor(Array::ones({4})));
    const Tensor scaled = sigmoid(mixed) / sqrt(exp(mixed * 0.1) + 1.0) + pow(q * q + 1.0, 0.3);
    return cross_entropy(scaled, {1, 0, 3}) + mean(log(q * q + 2.0)) + sum(log_softmax(k)) * 0.01;
  };
  const Array x = uniform({4, 4}, 7, -0.7, 0.7), u = uniform({4, 4}, 8), v = uniform({4, 4}, 9);
  const double one = dot(v, hessian_times(loss, x, u)), other = dot(u, hessian_times(loss, x, v));
  CHECK(std::abs(one) > 1e-3);
  CHECK_THAT(one, WithinRel(other, 1e-10));
}

TEST_CASE("gradients accumulate with their tangents") {
  const Array x = uniform({3}, 1), u = uniform({3}, 2);
  const Tensor w = moving(x, u);
  backward(sum(w * w));
  backward(sum(w * w * w));
  CHECK(close(Array({3}, tangents(w.grad())), u * Real(2) + x * u * Real(6)));
}
