#include "engine/kernels/simd_math.h"

#include <array>
#include <bit>
#include <cstring>
#include <string>

#include "tests/support/catch.h"

using namespace fledge;
using kernels::lanes;
using kernels::Vec;

namespace {

using LaneNumbers = std::array<Real, static_cast<std::size_t>(lanes)>;
using BitPattern = std::conditional_t<sizeof(Real) == sizeof(float), std::uint32_t, std::uint64_t>;

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

LaneNumbers applied(const LaneFunction& f, const LaneNumbers& x) {
  LaneNumbers y;
  kernels::store(y.data(), f.vector(kernels::load(x.data())));
  return y;
}
// f(x) in every lane, which must agree to the bit.
double at(const LaneFunction& f, double x) {
  LaneNumbers all;
  all.fill(Real(x));
  const LaneNumbers y = applied(f, all);
  bool alike = true;
  for (const Real lane : y) alike = alike && std::memcmp(&lane, &y[0], sizeof lane) == 0;
  REQUIRE(alike);
  return value_of(y[0]);
}
double exp_at(double x) { return at(lane_functions[0], x); }
double log_at(double x) { return at(lane_functions[1], x); }

// |found − exact| in units in the last place of exact; infinity counts as the next power of two.
double error_in_units(double found, double exact) {
  using limits = std::numeric_limits<Real>;
  if (std::isnan(found) || std::isnan(exact))
    return std::isnan(found) == std::isnan(exact) ? 0 : infinity;
  if (found == exact) return 0;
  if constexpr (sizeof(Real) != sizeof(float)) {  // 0 or a neighbour: nothing else passes
    return std::nextafter(exact, found) == found ? 1 : infinity;
  } else {
    const double beyond = std::ldexp(1.0, limits::max_exponent);
    const auto finite = [&](double x) { return std::copysign(std::fmin(std::fabs(x), beyond), x); };
    const int exponent = std::max(std::ilogb(finite(exact)), limits::min_exponent - 1);
    return std::fabs(finite(found) - finite(exact)) /
           std::ldexp(1.0, exponent - limits::digits + 1);
  }
}

constexpr double allowed = sizeof(Real) == sizeof(float) ? 2 : 1;

struct Worst {
  double error = 0, at = 0;
};

// The largest error over the numbers that next(x) gives until it returns false.
template <class Next>
Worst worst_of(const LaneFunction& f, Next next) {
  Worst worst;
  for (bool more = true; more;) {
    LaneNumbers x{};
    for (Real& number : x) more = more && next(number);
    const LaneNumbers y = applied(f, x);
    for (std::size_t i = 0; i < x.size(); ++i) {
      const double error = error_in_units(value_of(y[i]), f.standard(value_of(x[i])));
      if (!(error <= worst.error)) worst = {error, value_of(x[i])};
    }
  }
  return worst;
}

// Every `stride`-th bit pattern from 0 to the last: both signs, subnormal numbers, infinities, NaN.
Worst sweep(const LaneFunction& f, BitPattern stride) {
  return worst_of(f, [stride, bits = BitPattern{0}](Real& x) mutable {
    x = Real(std::bit_cast<kernels::Native>(bits));
    const bool more = bits <= std::numeric_limits<BitPattern>::max() - stride;
    bits = static_cast<BitPattern>(bits + stride);
    return more;
  });
}

void check_sweep(BitPattern stride) {
  for (const LaneFunction& f : lane_functions) {
    const Worst worst = sweep(f, stride);
    INFO(f.name << " errs most at " << worst.at);
    CHECK(worst.error <= allowed);
  }
}

}  // namespace

TEST_CASE("vector functions err by 2 units in the last place at most, in double by 1") {
  check_sweep(sizeof(Real) == sizeof(float) ? BitPattern{4099}
                                            : static_cast<BitPattern>(36028797018963913));
}

#if !defined(FLEDGE_DUAL)
TEST_CASE("vector functions of every float there is", "[.nightly]") { check_sweep(1); }
#endif

TEST_CASE("vector functions of numbers as they are used") {
  for (const LaneFunction& f : lane_functions) {
    const Worst worst = worst_of(f, [i = -40000](Real& x) mutable {
      x = Real(i * 0.000613);
      return i++ < 40000;
    });
    INFO(f.name << " errs most at " << worst.at);
    CHECK(worst.error <= allowed);
  }
}

TEST_CASE("weights are exponentials, or 0 where these are tiny") {
  const LaneFunction weight = {"exp_of_weight", [](Vec x) { return exp_of_weight(x); }, nullptr};
  for (double x = -120; x < 88; x += 0.0371) {
    const double exact = exp_at(value_of(Real(x))), found = at(weight, x);
    INFO("at " << x);
    if (sizeof(Real) == sizeof(float) && exact < std::numeric_limits<float>::min() * std::sqrt(0.5))
      CHECK(found == 0);
    else
      CHECK(found == exact);
  }
  for (const double x : {-infinity, -1e30, -1e9})
    if (sizeof(Real) == sizeof(float)) CHECK(at(weight, x) == 0);
  CHECK(at(weight, 0) == 1);
  for (const double sign : {1.0, -1.0})
    CHECK(std::isnan(at(weight, sign * std::numeric_limits<double>::quiet_NaN())));
}

TEST_CASE("vector functions at zeros, infinities and NaN") {
  using limits = std::numeric_limits<Real>;
  for (const LaneFunction& f : lane_functions) {
    INFO(f.name);
    CHECK(std::isnan(at(f, std::numeric_limits<double>::quiet_NaN())));
    CHECK(std::isnan(at(f, -std::numeric_limits<double>::quiet_NaN())));
    for (const double x :
         {0.0, -0.0, infinity, value_of(limits::max()), value_of(limits::denorm_min())}) {
      INFO("at " << x);
      const double expected = value_of(Real(f.standard(x)));
      CHECK(error_in_units(at(f, x), expected) <= allowed);
      CHECK(std::signbit(at(f, x)) == std::signbit(expected));
    }
  }
  CHECK(exp_at(0) == 1);
  CHECK(exp_at(-infinity) == 0);
  CHECK(exp_at(value_of(limits::lowest())) == 0);
  CHECK(log_at(0) == -infinity);
  CHECK(log_at(-0.0) == -infinity);
  CHECK(log_at(1) == 0);
  CHECK(log_at(infinity) == infinity);
  for (const double negative : {-1.0, -1e-30, -infinity, -1e30})
    CHECK(std::isnan(log_at(negative)));
  CHECK(std::isnan(log_at(-value_of(limits::denorm_min()))));
}

TEST_CASE("exp overflows and vanishes where its result does") {
  const bool single = sizeof(Real) == sizeof(float);
  CHECK(std::isfinite(exp_at(single ? 88.7 : 709.7)));
  CHECK(std::isinf(exp_at(single ? 88.8 : 709.9)));
  CHECK(std::isinf(exp_at(single ? 1000 : 1e5)));
  CHECK(exp_at(single ? -103.9 : -745.1) == value_of(std::numeric_limits<Real>::denorm_min()));
  CHECK(exp_at(single ? -104 : -745.2) == 0);
  CHECK(exp_at(single ? -1000 : -1e5) == 0);
}

TEST_CASE("tanh is odd, and reaches 1 without passing it") {
  for (const LaneFunction& f : {lane_functions[2]})
    for (const double x : {1e-30, 1e-3, 0.3, 0.624, 0.626, 0.93, 0.94, 1.5, 3.9, 4.1, 20.0, 1e30}) {
      INFO(f.name << " of " << x);
      CHECK(at(f, -x) == -at(f, x));
      CHECK(at(f, x) <= 1);
      CHECK(at(f, x) > 0);
      if (x > 20) CHECK(at(f, x) == 1);
    }
}

TEST_CASE("a lane does not depend on the others, to the bit") {
  for (const LaneFunction& f : lane_functions) {
    LaneNumbers x;
    for (std::size_t i = 0; i < x.size(); ++i) {
      x.fill(std::numeric_limits<Real>::quiet_NaN());
      x[i] = Real(0.7);
      const double among_nan = value_of(applied(f, x)[i]);
      x.fill(Real(1e30));
      x[i] = Real(0.7);
      const double among_large = value_of(applied(f, x)[i]);
      CHECK(among_nan == at(f, value_of(Real(0.7))));
      CHECK(among_large == among_nan);
    }
  }
}
