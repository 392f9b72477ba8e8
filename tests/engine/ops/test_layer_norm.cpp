#include <cmath>

#include "tests/engine/ops/passes.h"

using namespace tests;

namespace {

Function norm(double eps = 1e-5) {
  return [eps](const Tensors& x) { return layer_norm(x[0], x[1], x[2], eps); };
}

std::vector<Array> inputs(const Shape& shape, double low = -2, double high = 2) {
  const Shape features{shape.dim(-1)};
  return {uniform(shape, 1, low, high), uniform(features, 2), uniform(features, 3)};
}

// x̂ and dx in long double; rg = rstd·g is what dx is left of after its mean and its part along x̂
// went.
struct ExactNorm {
  std::vector<long double> x_hat, dx, rg, kappa;
};

ExactNorm exact_norm(const Array& x, const Array& gain, const Array& dy, double eps) {
  const Dim n = x.dim(-1);
  const auto wide = [](Real v) { return static_cast<long double>(value_of(v)); };
  ExactNorm exact;
  for (Dim r = 0; r < x.size() / n; ++r) {
    long double mean = 0, variance = 0, mean_g = 0, mean_gx = 0;
    for (Dim j = 0; j < n; ++j) mean += wide(x[r * n + j]) / static_cast<long double>(n);
    for (Dim j = 0; j < n; ++j)
      variance +=
          (wide(x[r * n + j]) - mean) * (wide(x[r * n + j]) - mean) / static_cast<long double>(n);
    const long double deviation =
        std::sqrt(variance + static_cast<long double>(value_of(Real(eps))));
    const auto x_hat = [&](Dim j) { return (wide(x[r * n + j]) - mean) / deviation; };
    const auto g = [&](Dim j) { return wide(dy[r * n + j]) * wide(gain[j]); };
    for (Dim j = 0; j < n; ++j) mean_g += g(j) / static_cast<long double>(n);
    for (Dim j = 0; j < n; ++j) mean_gx += g(j) * x_hat(j) / static_cast<long double>(n);
    for (Dim j = 0; j < n; ++j) {
      exact.x_hat.push_back(x_hat(j));
      exact.rg.push_back(g(j) / deviation);
      exact.dx.push_back((g(j) - mean_g - x_hat(j) * mean_gx) / deviation);
      exact.kappa.push_back(std::abs(mean) / deviation + 1);
    }
  }
  return exact;
}

// Errors relative to the norm of the row of `size`, within 8·(log₂ n + 4)·u·κ,
// κ = |mean|/deviation + 1.
Verdict within_bound(const Array& found, const std::vector<long double>& exact,
                     const std::vector<long double>& size, const std::vector<long double>& kappas) {
  const Dim n = found.dim(-1);
  for (Dim r = 0; r < found.size() / n; ++r) {
    long double norm = 0, error = 0, kappa = 0;
    for (Dim i = r * n; i < (r + 1) * n; ++i) {
      const auto at = static_cast<std::size_t>(i);
      const long double difference = static_cast<long double>(value_of(found[i])) - exact[at];
      norm += size[at] * size[at];
      error += difference * difference;
      kappa = kappas[at];
    }
    const auto scale = static_cast<long double>(8 * (std::log2(static_cast<double>(n)) + 4) * unit);
    if (!(std::sqrt(error) <= scale * kappa * std::sqrt(norm)))
      return {"row " + std::to_string(r) + " errs by " +
              std::to_string(std::sqrt(error / norm) / scale / kappa)};
  }
  return {};
}

void check_row(const std::vector<Array>& x, double eps) {
  const Array dy = uniform(x[0].shape(), 4);
  const Pass found =
      pass(norm(eps), {x[0], Array::ones(x[1].shape()), Array::zeros(x[1].shape())}, dy);
  const ExactNorm exact = exact_norm(x[0], Array::ones(x[1].shape()), dy, eps);
  CHECK(within_bound(found.y, exact.x_hat, exact.x_hat, exact.kappa));
  CHECK(within_bound(found.dx[0], exact.dx, exact.rg, exact.kappa));
}

}  // namespace

TEST_CASE("layer norm and its gradients by hand") {
  const Pass found =
      pass(norm(0), {Array({2, 2}, {1, 3, 10, 4}), Array({2}, {2, 3}), Array({2}, {5, 7})},
           Array({2, 2}, {1, 10, 100, 1000}));
  CHECK(same_bits(found.y, Array({2, 2}, {3, 10, 7, 4})));
  CHECK(close(found.dx[0], Array::zeros({2, 2})));  // two numbers only ever become −1 and 1
  CHECK(same_numbers(found.dx[1], Array({2}, {99, -990})));
  CHECK(same_numbers(found.dx[2], Array({2}, {101, 1010})));
}

TEST_CASE("layer norm against long double") {
  for (const Dim n : {2, 3, 7, 8, 9, 31, 64, 65, 300, 1000})
    for (const double eps : {1e-5, 0.0, 1.0}) {
      INFO("rows of " << n << ", eps " << eps);
      check_row(inputs({4, n}), eps);
      check_row(inputs({4, n}, 98, 102), eps);
    }
}

TEST_CASE("layer norm of a large mean with a tiny spread") {
  check_row(inputs({3, 64}, 1e4 - 0.05, 1e4 + 0.05), 1e-5);
  check_row(inputs({3, 65}, -1e4 - 1, -1e4 + 1), 0);
  const double far = sizeof(Real) == sizeof(float) ? 1e6 : 1e8;
  const Pass found =
      pass(norm(0), {Array({3}, {far, far + 1, far + 2}), Array::ones({3}), Array::zeros({3})},
           Array::ones({3}));
  CHECK(close(found.y, Array({3}, {-std::sqrt(1.5), 0, std::sqrt(1.5)})));
}

TEST_CASE("layer norm of equal numbers is its bias") {
  for (const double number : {0.0, 1.0, -3.0, 0.25})
    for (const Dim n : {1, 2, 4, 64, 1024}) {
      const Array bias = uniform({n}, 3), gain = uniform({n}, 2), dy = uniform({1, n}, 4);
      const Pass found = pass(norm(), {Array::full({1, n}, Real(number)), gain, bias}, dy);
      CHECK(same_numbers(found.y, bias.with_shape({1, n})));
      CHECK(same_numbers(found.dx[1], Array::zeros({n})));
      // x̂ = 0, so dx = (g − mean g)/√eps
      const Array g = (Tensor(dy) * gain).value();
      const Array expected = ((Tensor(g) - mean(g)) / std::sqrt(1e-5)).value();
      CHECK(close(found.dx[0], expected, 64 * rounding));
    }
}

TEST_CASE("layer norm of any equal numbers stays finite") {
  for (const double number : {0.1, 1e4, -12345.678, 1e20})
    for (const Dim n : {1, 3, 7, 300}) {
      const Pass found =
          pass(norm(), {Array::full({2, n}, Real(number)), Array::ones({n}), Array::zeros({n})},
               uniform({2, n}, 4));
      bool finite = true;
      for (Dim i = 0; i < 2 * n; ++i)
        finite = finite && isfinite(found.y[i]) && isfinite(found.dx[0][i]);
      INFO(n << " times " << number);
      CHECK(finite);
    }
}

TEST_CASE("layer norm of one number is its bias, without a gradient") {
  const Pass found =
      pass(norm(), {uniform({5, 1}, 1), Array({1}, {2}), Array({1}, {7})}, uniform({5, 1}, 2));
  CHECK(same_numbers(found.y, Array::full({5, 1}, 7)));
  CHECK(same_numbers(found.dx[0], Array::zeros({5, 1})));
  CHECK(same_numbers(found.dx[1], Array::zeros({1})));
}

TEST_CASE("eps stands inside the root") {
  // variance 1, eps 3: x̂ = ±1/√4
  CHECK(same_bits(value(norm(3), {Array({2}, {-1, 1}), Array::ones({2}), Array::zeros({2})}),
                  Array({2}, {-0.5, 0.5})));
}

TEST_CASE("the gradient of layer norm sums to 0 and is orthogonal to its result") {
  for (const Dim n : {3, 8, 65, 300}) {
    const Array x = uniform({6, n}, 1), dy = uniform({6, n}, 4);
    const Pass found = pass(norm(0), {x, Array::ones({n}), Array::zeros({n})}, dy);
    const ExactNorm exact = exact_norm(x, Array::ones({n}), dy, 0);
    for (Dim r = 0; r < 6; ++r) {
      double sums = 0, along = 0, size = 0;
      for (Dim i = r * n; i < (r + 1) * n; ++i) {
        sums += value_of(found.dx[0][i]);
        along += value_of(found.dx[0][i]) * value_of(found.y[i]);
        size += static_cast<double>(std::abs(exact.rg[static_cast<std::size_t>(i)]));
      }
      CHECK(std::abs(sums) <= static_cast<double>(n) * unit * size);
      CHECK(std::abs(along) <= static_cast<double>(n) * unit * size);
    }
  }
}

TEST_CASE("layer norm and elementary ops are two roads to one answer") {
  const auto composed = [](const Tensors& x) {
    const Tensor centred = x[0] - mean(x[0], {-1}, true);
    const Tensor variance = mean(centred * centred, {-1}, true);
    return x[1] * (centred / sqrt(variance + 1e-5)) + x[2];
  };
  for (const Shape& shape : {Shape{7}, Shape{5, 7}, Shape{2, 3, 4}, Shape{2, 1, 4, 65}})
    check_two_roads(norm(), composed, inputs(shape));
}

TEST_CASE("layer norm of every shape, and the rules of every op") {
  for (const Shape& shape : {Shape{17}, Shape{0, 3}, Shape{2, 0, 4}, Shape{2, 1, 2, 1, 2, 1, 2, 5}})
    check_rules(norm(), inputs(shape));
}

TEST_CASE("a NaN or an infinity makes its own row unknown, and no other") {
  for (const double poison : {quiet_nan, infinity, -infinity}) {
    std::vector<Array> x = inputs({3, 4});
    const Array dy = uniform({3, 4}, 4);
    const Pass clean = pass(norm(), x, dy);
    Array spoiled = x[0].clone();
    spoiled.write()[5] = Real(poison);
    const Pass found = pass(norm(), {spoiled, x[1], x[2]}, dy);
    for (Dim i = 0; i < 12; ++i) {
      const bool in_row = i / 4 == 1;
      CHECK((in_row ? isnan(found.y[i]) : found.y[i] == clean.y[i]));
      CHECK((in_row ? isnan(found.dx[0][i]) : found.dx[0][i] == clean.dx[0][i]));
    }
    CHECK(isnan(found.dx[1][1]));
    CHECK(same_bits(found.dx[2], clean.dx[2]));
  }
}

TEST_CASE("layer norm refuses what does not fit") {
  const auto of = [](const Shape& shape) { return parameter(Array::ones(shape)); };
  const auto refused = [&](const Shape& x, const Shape& gain, const Shape& bias) {
    const Tensors t = {of(x), of(gain), of(bias)};
    return refusal_in_both_modes<ShapeError>([&] { norm()(t); });
  };
  CHECK(refused({}, {1}, {1}) == "layer_norm: needs a last axis to normalise: got shape ()");
  CHECK(refused({2, 0}, {0}, {0}) ==
        "layer_norm: needs a last axis to normalise: got shape (2, 0)");
  const std::string fit = "layer_norm: gain and bias must have shape (3): got ";
  CHECK(refused({2, 3}, {2}, {3}) == fit + "(2) and (3) for x (2, 3)");
  CHECK(refused({2, 3}, {3}, {1}) == fit + "(3) and (1) for x (2, 3)");
  CHECK(refused({2, 3}, {1, 3}, {3}) == fit + "(1, 3) and (3) for x (2, 3)");
  const auto refused_eps = [&](double eps) {
    return refusal_in_both_modes<ValueError>([&] {
      layer_norm(of({2, 3}), of({3}), of({3}), eps);
    });
  };
  CHECK(refused_eps(-1e-5) == "layer_norm: eps must not be negative: got -1e-05");
  CHECK_THAT(refused_eps(quiet_nan), StartsWith("layer_norm: eps must not be negative: got "));
  CHECK(refusal_in_both_modes<GraphError>([&] {
          norm()({Tensor(), of({3}), of({3})});
        }) == "value: this tensor was never given a value");
}
