// Vectors lane by lane, against the same operation on each number; and their exp, log and tanh
// against the standard library over all numbers; ops/known_values.txt has their ends. Loads,
// stores, folds, transposes and add_product() are proved by the kernels, whose every length is
// tested between guard pages.
#include "engine/kernels/simd.h"

#include <array>
#include <bit>
#include <cmath>
#include <cstring>

#include "engine/kernels/simd_math.h"
#include "tests/engine/kernels/guarded.h"

using namespace tests;
using kernels::lanes;
using kernels::Vec;

namespace {

constexpr auto lane_count = static_cast<std::size_t>(lanes);
using Lanes = std::array<Real, lane_count>;
using limits = std::numeric_limits<Real>;

Lanes numbers_in(Vec v) {
  Lanes x;
  kernels::store(x.data(), v);
  return x;
}

// Neither value nor tangent of a lane is that of another.
Array drawn_numbers(Dim n, std::uint64_t seed = 1) {
  return with_tangents(uniform({n}, seed), uniform({n}, seed + 1));
}
bool same_number(Real a, Real b) { return std::memcmp(&a, &b, sizeof a) == 0; }

using BitPattern = std::conditional_t<sizeof(Real) == sizeof(float), std::uint32_t, std::uint64_t>;
constexpr bool is_single = sizeof(Real) == sizeof(float);

struct LaneFunction {
  const char* name;
  Vec (*vector)(Vec);
  double (*standard)(double);
};
const std::array<LaneFunction, 3> lane_functions = {{
    {"exp", [](Vec x) { return exp(x); }, [](double x) { return std::exp(x); }},
    {"log", [](Vec x) { return log(x); }, [](double x) { return std::log(x); }},
    {"tanh", [](Vec x) { return tanh(x); }, [](double x) { return std::tanh(x); }},
}};
const LaneFunction lane_weight = {"exp_of_weight", [](Vec x) { return exp_of_weight(x); }, nullptr};

// f(x) in every lane, which must agree to the bit; and so must it beside NaN and infinities.
double at(const LaneFunction& f, double x) {
  const Lanes y = numbers_in(f.vector(kernels::splat(Real(x))));
  bool alike = true;
  for (std::size_t i = 0; i < lane_count; ++i) {
    Lanes among{};
    for (std::size_t j = 0; j < lane_count; ++j) among[j] = j % 2 == 0 ? nan_number : Real(1e30);
    among[i] = Real(x);
    const Lanes z = numbers_in(f.vector(kernels::load(among.data())));
    alike = alike && same_number(y[i], y[0]) && same_number(z[i], y[0]);
  }
  REQUIRE((alike || isnan(y[0])));
  return value_of(y[0]);
}
double exp_at(double x) { return at(lane_functions[0], x); }

// |found − exact| in units in the last place of exact; infinity counts as the next power of two.
double error_in_units(double found, double exact) {
  if (std::isnan(found) || std::isnan(exact))
    return std::isnan(found) == std::isnan(exact) ? 0 : infinity;
  if (found == exact) return 0;
  if constexpr (!is_single) {  // 0 or a neighbour: nothing else passes
    return std::nextafter(exact, found) == found ? 1 : infinity;
  } else {
    const double beyond = std::ldexp(1.0, limits::max_exponent);
    const auto finite = [&](double x) { return std::copysign(std::fmin(std::fabs(x), beyond), x); };
    const int exponent = std::max(std::ilogb(finite(exact)), limits::min_exponent - 1);
    return std::fabs(finite(found) - finite(exact)) /
           std::ldexp(1.0, exponent - limits::digits + 1);
  }
}

// Checks the numbers that next(x) gives until it returns false: in float 2 units, in double 1.
template <class Next>
void check_errors(const LaneFunction& f, Next next) {
  double worst = 0, where = 0;
  for (bool more = true; more;) {
    Lanes x{};
    for (Real& number : x) more = more && next(number);
    const Lanes y = numbers_in(f.vector(kernels::load(x.data())));
    for (std::size_t i = 0; i < x.size(); ++i) {
      const double error = error_in_units(value_of(y[i]), f.standard(value_of(x[i])));
      if (!(error <= worst)) worst = error, where = value_of(x[i]);
    }
  }
  INFO(f.name << " errs most at " << where);
  CHECK(worst <= (is_single ? 2 : 1));
}

// Every `stride`-th bit pattern from 0 to the last: both signs, subnormal numbers, infinities, NaN.
void check_sweep(BitPattern stride) {
  for (const LaneFunction& f : lane_functions)
    check_errors(f, [stride, bits = BitPattern{0}](Real& x) mutable {
      x = Real(std::bit_cast<kernels::Native>(bits));
      const bool more = bits <= std::numeric_limits<BitPattern>::max() - stride;
      bits = static_cast<BitPattern>(bits + stride);
      return more;
    });
}

}  // namespace

TEST_CASE("arithmetic, comparison and choice are those of each lane") {
  const Array left = drawn_numbers(lanes, 1), right = drawn_numbers(lanes, 5),
              other = drawn_numbers(lanes, 9);
  const Vec a = kernels::load(left.data()), b = kernels::load(right.data());
  const Real c = other[0];
  const auto check = [&](Vec found, auto expected) {
    for (Dim i = 0; i < lanes; ++i) {
      const Real is = kernels::lane(found, static_cast<int>(i)), must = expected(left[i], right[i]);
      INFO("lane " << i << " is " << digits(is) << ", must be " << digits(must));
      CHECK(value_of(is) == value_of(must));
#if defined(FLEDGE_DUAL)  // of two products a multiply-add rounds only one
      CHECK(std::abs(is.tangent - must.tangent) <= 1e-14 * std::abs(must.tangent));
#endif
    }
  };
  check(a + b, [](Real x, Real y) { return x + y; });
  check(a - b, [](Real x, Real y) { return x - y; });
  check(a * b, [](Real x, Real y) { return x * y; });
  check(a / b, [](Real x, Real y) { return x / y; });
  check(-a, [](Real x, Real) { return -x; });
  check(a + c, [&](Real x, Real) { return x + c; });
  check(c - a, [&](Real x, Real) { return c - x; });
  check(a * c, [&](Real x, Real) { return x * c; });
  check(c / a, [&](Real x, Real) { return c / x; });
  Vec sum = a;
  sum += b;
  check(sum, [](Real x, Real y) { return x + y; });
  using kernels::select;
  check(select(a < b, a, b), [](Real x, Real y) { return x < y ? x : y; });
  check(select(a > b, a, b), [](Real x, Real y) { return x > y ? x : y; });
  check(select(a <= a, a, b), [](Real x, Real) { return x; });
  check(select(a >= b, b, a), [](Real x, Real y) { return x >= y ? y : x; });
  check(select(a == a, b, a), [](Real, Real y) { return y; });
  check(kernels::larger(a, b), [](Real x, Real y) { return x < y ? y : x; });
}

TEST_CASE("larger: the larger one, and the first where either is NaN") {
  const double all[] = {-infinity, -2, 0, 5, infinity, quiet_nan};
  for (const double a : all)
    for (const double b : all)
      for (const Real lane :
           numbers_in(kernels::larger(kernels::splat(Real(a)), kernels::splat(Real(b))))) {
        INFO(a << " and " << b);
        const bool either_nan = std::isnan(a) || std::isnan(b);
        CHECK((either_nan && std::isnan(a) ? isnan(lane)
                                           : value_of(lane) == (either_nan ? a : std::max(a, b))));
      }
}

TEST_CASE("vector functions err by 2 units in the last place at most, in double by 1") {
  check_sweep(is_single ? BitPattern{4099} : static_cast<BitPattern>(36028797018963913));
  for (const LaneFunction& f : lane_functions)  // numbers as they are used
    check_errors(f, [i = -40000](Real& x) mutable {
      x = Real(i * 0.000613);
      return i++ < 40000;
    });
}

#if !defined(FLEDGE_DUAL)
TEST_CASE("vector functions of every float there is", "[.nightly]") { check_sweep(1); }
#endif

TEST_CASE("weights are exponentials, or 0 where these are tiny") {
  for (double x = -120; x < 88; x += 0.0371) {
    const double exact = exp_at(value_of(Real(x))), found = at(lane_weight, x);
    const bool is_tiny = is_single && exact < std::numeric_limits<float>::min() * std::sqrt(0.5);
    INFO("at " << x);
    CHECK(found == (is_tiny ? 0 : exact));
  }
  for (const double x : {-infinity, -1e30, -1e9}) CHECK((at(lane_weight, x) == 0 || !is_single));
  CHECK(at(lane_weight, 0) == 1);
  for (const double nan : {quiet_nan, -quiet_nan}) CHECK(std::isnan(at(lane_weight, nan)));
}
