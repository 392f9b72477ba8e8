#include "engine/gradcheck/backward_consistency.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <unordered_set>
#include <utility>

#include "engine/array.h"
#include "engine/array_math.h"
#include "engine/autograd.h"
#include "engine/ops.h"

namespace fledge {

void add_worst(std::vector<WrongElement>& worst, const WrongElement& element) {
  const auto is_worse = [](const WrongElement& a, const WrongElement& b) {
    return std::isnan(a.error) ? !std::isnan(b.error) : a.error > b.error;
  };
  worst.insert(std::upper_bound(worst.begin(), worst.end(), element, is_worse), element);
  if (worst.size() > 5) worst.pop_back();
}

Array random_cotangent(const Shape& shape, std::uint64_t seed) {
  Rng rng(seed);
  Array v(shape);
  Real* to = v.write();
  for (Dim i = 0; i < v.size(); ++i) {
    const double magnitude = 0.5 + rng.uniform();
    to[i] = Real(rng.uniform() < 0.5 ? -magnitude : magnitude);
  }
  return v;
}

namespace {

// The gradients of all leaves that y depends on, as they are now.
std::vector<std::pair<Node*, Array>> gradients_of_leaves(const Tensor& y) {
  std::vector<std::pair<Node*, Array>> leaves;
  std::vector<Node*> waiting{y.node().get()};
  std::unordered_set<Node*> known(waiting.begin(), waiting.end());
  while (!waiting.empty()) {
    Node* const node = waiting.back();
    waiting.pop_back();
    if (node->leaf) leaves.emplace_back(node, node->grad);
    for (const Edge& edge : node->edges)
      if (known.insert(edge.input.get()).second) waiting.push_back(edge.input.get());
  }
  return leaves;
}

// Of the finite numbers.
double largest(const std::vector<double>& numbers) {
  double most = 0;
  for (const double x : numbers)
    if (std::isfinite(x)) most = std::max(most, std::abs(x));
  return most;
}

// Compares each element of `found` with the same element of `expected`. It is found wrong if it
// differs by more than `tolerance` times the largest expected number of its tensor. An element with
// an expected number that is not finite is skipped. Returns the first tensor with wrong elements.
std::optional<WrongGradient> first_difference(const Gradients& found, const Gradients& expected,
                                              double tolerance, const char* problem) {
  for (std::size_t p = 0; p < found.size(); ++p) {
    const double allowed = tolerance * largest(expected[p]) +
                           std::numeric_limits<double>::min();  // numbers below it are rounded
    std::vector<WrongElement> worst;
    for (std::size_t j = 0; j < found[p].size(); ++j) {
      const double difference = std::abs(found[p][j] - expected[p][j]);
      if (std::isfinite(expected[p][j]) && !(difference <= allowed))
        add_worst(worst, {j, found[p][j], expected[p][j], difference});
    }
    if (!worst.empty()) return WrongGradient{problem, p, worst};
  }
  return {};
}

// One more backward pass, with the cotangent times a factor.
struct Pass {
  double factor, tolerance;
  const char* problem;
};

// Rules are linear in dy: one that clips it is right only where dy is small. Powers of two scale
// every product and every sum without rounding.
constexpr const char* not_linear =
    "a cotangent scaled by a factor gives a gradient that is not scaled by the same factor: a rule "
    "must be linear in dy";
constexpr Pass passes[] = {{1, 0, "a second backward pass gives another gradient"},
                           {0, 0, "a zero cotangent gives a gradient that is not zero"},
                           {1024, 1e-9, not_linear},
                           {-1024, 1e-9, not_linear},
                           {1.0 / 1024, 1e-9, not_linear}};

// The size of the numbers that f adds up, or more: at least 1, |dp| and Σ_i |v_i·y_i| / |p|. A
// gradient that cancels to zero is a rounding error of these numbers. Beside a c of its own size
// every right rule would look wrong.
double size_of_sums(const Array& y, const std::vector<NamedTensor>& parameters, const Array& v,
                    const Gradients& gradients) {
  double output = 0, size = 1;
  for (Dim i = 0; i < y.size(); ++i) output += std::abs(value_of(v[i]) * value_of(y[i]));
  for (std::size_t p = 0; p < parameters.size(); ++p) {
    const double x = largest(to_vector(parameters[p].tensor.value()));
    size = std::max({size, largest(gradients[p]), x > 0 ? output / std::min(1.0, x) : output});
  }
  return std::isfinite(size) ? size : 1;
}

}  // namespace

Gradients gradients_of(const Tensor& y, const std::vector<NamedTensor>& parameters,
                       const Array& v) {
  for (const NamedTensor& p : parameters) p.tensor.zero_grad();
  std::vector<std::pair<Node*, Array>> before;
  if (y.needs_grad()) {
    before = gradients_of_leaves(y);
    backward(y, v, Graph::keep);
  }
  Gradients gradients;
  for (const NamedTensor& p : parameters)
    gradients.push_back(
        to_vector(p.tensor.has_grad() ? p.tensor.grad() : Array::zeros(p.tensor.shape())));
  for (auto& [leaf, gradient] : before) leaf->grad = std::move(gradient);
  return gradients;
}

BackwardConsistency check_backward(const std::function<Tensor()>& f,
                                   const std::vector<NamedTensor>& parameters, const Array& v,
                                   std::uint64_t seed) {
  const Tensor y = f();
  const Gradients gradients = gradients_of(y, parameters, v);
  for (const Pass& pass : passes) {
    Gradients expected = gradients;
    for (std::vector<double>& of_parameter : expected)
      for (double& g : of_parameter) g = pass.factor * g + 0.0;  // 0, not −0
    const Gradients found = gradients_of(y, parameters, v * Real(pass.factor));
    if (auto difference = first_difference(found, expected, pass.tolerance, pass.problem))
      return {gradients, difference};
  }
  if (!y.needs_grad()) return {gradients, {}};

  // Once more with another user c·p of each parameter. It is recorded last, so c has arrived when
  // the rules of f run. A rule that overwrites what it should add to loses c.
  const double size = size_of_sums(y.value(), parameters, v, gradients);
  Tensor total = sum(f() * Tensor(v));
  Gradients expected = gradients;
  for (std::size_t p = 0; p < parameters.size(); ++p) {
    const Tensor& x = parameters[p].tensor;
    const Array c = random_cotangent(x.shape(), seed + p + 1) * Real(size);
    total = total + sum(x * Tensor(c));
    for (std::size_t j = 0; j < expected[p].size(); ++j)
      expected[p][j] += value_of(c[static_cast<Dim>(j)]);
  }
  const Gradients found = gradients_of(total, parameters, Array::ones({}));
  return {gradients, first_difference(found, expected, 1e-6,
                                      "a rule overwrites the contribution of another user of the "
                                      "tensor: it must add its own")};
}

}  // namespace fledge
