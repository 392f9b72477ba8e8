#include <cfenv>
#include <cmath>
#include <thread>

#include "tests/engine/ops/curves.h"

using namespace tests;

namespace {

struct EdgeCase {
  double x, y, slope;
};

void check_edges(const char* name, const Function& f, const std::vector<EdgeCase>& edges) {
  for (const EdgeCase& edge : edges) {
    INFO(name << " of " << edge.x);
    const Pass found = pass(f, {Array({}, {edge.x})}, Array::ones({}));
    CHECK(same_numbers(found.y, Array({}, {edge.y})));
    if (!std::isnan(edge.y)) CHECK(std::signbit(value_of(found.y[0])) == std::signbit(edge.y));
    CHECK(same_numbers(found.dx[0], Array({}, {edge.slope})));
  }
}

// The type of the digits: a Dual's value is a double.
using Plain = std::conditional_t<std::is_same_v<Real, float>, float, double>;

constexpr double tiny = std::numeric_limits<Real>::denorm_min();
constexpr double largest_real = std::numeric_limits<Real>::max();

}  // namespace

TEST_CASE("functions of one number keep the shape, and are right in arrays of every length") {
  for (const Curve& curve : curves)
    for (const Shape& shape : shapes) {
      INFO(curve.name << " " << to_string(shape));
      const Array x = uniform(shape, 7, curve.low, curve.high);
      CHECK(value(curve.f, {x}).shape() == shape);
      const Errors worst = errors_of(curve, x);
      CHECK(worst.y.units <= curve.y_units);
      CHECK(worst.slope.units <= curve.slope_units);
    }
}

TEST_CASE("functions of one number obey the rules of every op") {
  for (const Curve& curve : curves) {
    check_rules(curve.f, {uniform({5, 7}, 1, std::max(curve.low, -6.0), 6)});
    check_rules(curve.f, {uniform({2, 0}, 1)});
  }
  for (const std::size_t bounded : {0u, 4u, 5u, 6u})
    check_rules(curves[bounded].f, {Array({3}, {infinity, -infinity, 1})});
}

TEST_CASE("functions of one number are two roads with others") {
  const std::vector<Array> x = {uniform({4, 5}, 1, -4, 4)};
  check_two_roads([](const Tensors& t) { return sigmoid(t[0]); },
                  [](const Tensors& t) { return 1.0 / (1.0 + exp(-t[0])); }, x);
  check_two_roads([](const Tensors& t) { return tanh(t[0]); },
                  [](const Tensors& t) { return 2.0 * sigmoid(2.0 * t[0]) - 1.0; }, x);
  check_two_roads([](const Tensors& t) { return log(exp(t[0])); },
                  [](const Tensors& t) { return t[0]; }, x);
  check_two_roads([](const Tensors& t) { return sqrt(t[0] * t[0]); },
                  [](const Tensors& t) { return relu(t[0]) + relu(-t[0]); }, x);
  check_two_roads([](const Tensors& t) { return gelu_tanh(t[0]); },
                  [](const Tensors& t) {
                    const Tensor cube = t[0] * t[0] * t[0];
                    const double scale = std::sqrt(2 / std::numbers::pi);
                    return 0.5 * t[0] * (1.0 + tanh(scale * (t[0] + 0.044715 * cube)));
                  },
                  x);
}

TEST_CASE("exp, log and sqrt at the edges of IEEE 754") {
  check_edges("exp", curves[1].f,
              {{0.0, 1, 1},
               {-0.0, 1, 1},
               {tiny, 1, 1},
               {infinity, infinity, infinity},
               {-infinity, 0, 0},
               {largest_real, infinity, infinity},
               {-largest_real, 0, 0},
               {quiet_nan, quiet_nan, quiet_nan}});
  // 1/tiny is beyond the largest number; 1/largest_real is subnormal, and not flushed to 0.
  check_edges("log", curves[2].f,
              {{0.0, -infinity, infinity},
               {-0.0, -infinity, -infinity},
               {1, 0, 1},
               {-2, quiet_nan, -0.5},
               {infinity, infinity, 0},
               {tiny, value_of(log(Real(tiny))), infinity},
               {largest_real, value_of(log(Real(largest_real))), value_of(1 / Real(largest_real))},
               {quiet_nan, quiet_nan, quiet_nan}});
  CHECK(std::fpclassify(Plain(value_of(1 / Real(largest_real)))) == FP_SUBNORMAL);
  check_edges("sqrt", curves[3].f,
              {{0.0, 0.0, infinity},
               {-0.0, -0.0, -infinity},
               {4, 2, 0.25},
               {infinity, infinity, 0},
               {-1, quiet_nan, quiet_nan},
               {-infinity, quiet_nan, quiet_nan},
               {quiet_nan, quiet_nan, quiet_nan}});
}

TEST_CASE("exp overflows and fades out where the number type does") {
  const double last_finite = is_float ? 88.7228 : 709.78,
               first_infinite = is_float ? 88.72284 : 709.79;
  const double first_subnormal = is_float ? -87.34 : -708.4;
  const double last_subnormal = is_float ? -103.28 : -745.13,
               first_zero = is_float ? -104.0 : -745.14;
  const Array y = exp(Tensor(Array({5}, {last_finite, first_infinite, first_subnormal,
                                         last_subnormal, first_zero})))
                      .value();
  CHECK(isfinite(y[0]));
  CHECK(y[1] == Real(infinity));
  CHECK(std::fpclassify(Plain(value_of(y[2]))) == FP_SUBNORMAL);
  CHECK(y[3] == Real(tiny));
  CHECK(y[4] == Real(0));
}

TEST_CASE("tanh and sigmoid at the edges") {
  check_edges("tanh", curves[4].f,
              {{0.0, 0.0, 1},
               {-0.0, -0.0, 1},
               {tiny, tiny, 1},
               {infinity, 1, 0},
               {-infinity, -1, 0},
               {1e4, 1, 0},
               {-1e4, -1, 0},
               {largest_real, 1, 0},
               {quiet_nan, quiet_nan, quiet_nan}});
  check_edges("sigmoid", curves[5].f,
              {{0.0, 0.5, 0.25},
               {-0.0, 0.5, 0.25},
               {tiny, 0.5, 0.25},
               {infinity, 1, 0},
               {-infinity, 0, 0},
               {1e4, 1, 0},
               {-1e4, 0, 0},
               {1000, 1, 0},
               {-1000, 0, 0},
               {largest_real, 1, 0},
               {-largest_real, 0, 0},
               {quiet_nan, quiet_nan, quiet_nan}});
}

TEST_CASE("sigmoid neither overflows nor divides by zero on the way") {
  std::feclearexcept(FE_ALL_EXCEPT);
  const Pass found =
      pass(curves[5].f, {Array({6}, {-1000, 1000, -1e20, 1e20, -largest_real, largest_real})},
           Array::ones({6}));
  CHECK(std::fetestexcept(FE_OVERFLOW | FE_INVALID | FE_DIVBYZERO) == 0);
  CHECK(same_bits(found.y, Array({6}, {0, 1, 0, 1, 0, 1})));
}

TEST_CASE("relu has slope 0 at 0 and loses no NaN") {
  check_edges("relu", curves[6].f,
              {{0.0, 0, 0},
               {-0.0, 0, 0},
               {tiny, tiny, 1},
               {-tiny, 0, 0},
               {infinity, infinity, 1},
               {-infinity, 0, 0},
               {largest_real, largest_real, 1},
               {-largest_real, 0, 0},
               {quiet_nan, quiet_nan, quiet_nan}});
  const Pass flooded =
      pass(curves[6].f, {Array({3}, {-1, 0, 1})}, Array({3}, {infinity, -infinity, infinity}));
  CHECK(same_bits(flooded.dx[0], Array({3}, {0, 0, infinity})));
}

TEST_CASE("the two forms of gelu are two functions") {
  const Tensor x = Array({2}, {1, 2});
  CHECK(close(gelu(x).value(), Array({2}, {0.8413447460685429, 1.9544997361036416}), 16 * unit));
  CHECK(
      close(gelu_tanh(x).value(), Array({2}, {0.8411919906082768, 1.954597694087775}), 16 * unit));
}

TEST_CASE("both forms of gelu at their edges") {
  for (const std::size_t form : {7u, 8u})
    check_edges(curves[form].name, curves[form].f,
                {{0.0, 0.0, 0.5},
                 {-0.0, -0.0, 0.5},
                 {1e4, 1e4, 1},
                 {-1e4, -0.0, 0},
                 {quiet_nan, quiet_nan, quiet_nan}});
}

TEST_CASE("both forms of gelu are straight at enormous numbers") {
  for (const std::size_t form : {7u, 8u})
    check_edges(curves[form].name, curves[form].f,
                {{value_of(Real(1e20)), value_of(Real(1e20)), 1},
                 {-1e20, -0.0, 0},
                 {largest_real, largest_real, 1},
                 {-largest_real, -0.0, 0}});
}

TEST_CASE("subnormal numbers survive, on every thread") {
  const auto check = [] {
    const Tensor x = Array({2}, {tiny, -tiny});
    return same_bits((x * 1.0).value(), x.value()) && same_bits((x + 0.0).value(), x.value()) &&
           same_bits(tanh(x).value(), x.value()) && (sum(x + tiny)).item() == 2 * tiny;
  };
  CHECK(check());
  bool elsewhere = false;
  std::thread([&] { elsewhere = check(); }).join();
  CHECK(elsewhere);
}

TEST_CASE("functions of a tensor that was never given a value are refused") {
  for (const Curve& curve : curves)
    CHECK(refusal_in_both_modes<GraphError>([&] { curve.f({Tensor()}); }) ==
          "value: this tensor was never given a value");
}
