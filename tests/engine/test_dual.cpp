#include "engine/dual.h"

#include <vector>

#include "tests/support/arrays.h"
#include "tests/support/catch.h"

using namespace tests;

namespace {

// f'(x) by six points in long double, good to about 1e-13 (gradcheck's formula, another step).
template <class F>
double slope_of_real(F f, double x) {
  const long double h = 1e-3L * (x == 0 ? 1 : std::abs(x)), at = x;
  const auto gap = [&](int k) { return f(at + k * h) - f(at - k * h); };
  return static_cast<double>((45 * gap(1) - 9 * gap(2) + gap(3)) / (60 * h));
}

// A rule in one variable: the value is the double function's, the tangent f'(x) times x's.
template <class F, class G>
void check_dual_rule(F of_dual, G of_real, const std::vector<double>& points) {
  for (const double x : points) {
    CAPTURE(x);
    const Dual y = of_dual(Dual(x, 0.75));
    CHECK(y.value == static_cast<double>(of_real(x)));
    CHECK_THAT(y.tangent,
               WithinRel(0.75 * slope_of_real(of_real, x), 1e-11) || WithinAbs(0, 1e-14));
    CHECK(of_dual(Dual(x)).tangent == 0);
  }
}

// f must work for double, to give the same value, and for long double, to be differenced.
#define DUAL_RULE(f) [](Dual x) { return f(x); }, [](auto x) { return std::f(x); }

}  // namespace

TEST_CASE("a number alone does not move") {
  CHECK(Dual().value == 0);
  CHECK(Dual(3).tangent == 0);
  CHECK(Dual(3, 4).tangent == 4);
}

TEST_CASE("sums, differences, products and quotients") {
  const Dual a(3, 0.5), b(-2, 7);
  CHECK((a + b).value == 1);
  CHECK((a + b).tangent == 7.5);
  CHECK((a - b).value == 5);
  CHECK((a - b).tangent == -6.5);
  CHECK((a * b).value == -6);
  CHECK((a * b).tangent == 0.5 * -2 + 3 * 7);
  CHECK((a / b).value == -1.5);
  CHECK((a / b).tangent == (0.5 * -2 - 3 * 7.0) / 4);
  CHECK((-a).value == -3);
  CHECK((-a).tangent == -0.5);
}

TEST_CASE("assigning operators do the same, also on themselves") {
  Dual a(3, 0.5);
  const Dual& same = a;
  a += Dual(1, 1);
  CHECK((a.value == 4 && a.tangent == 1.5));
  a -= Dual(2, 1);
  CHECK((a.value == 2 && a.tangent == 0.5));
  a *= same;
  CHECK((a.value == 4 && a.tangent == 2));
  a /= same;
  CHECK((a.value == 1 && a.tangent == 0));
  a += same;
  CHECK((a.value == 2 && a.tangent == 0));
  a -= same;
  CHECK((a.value == 0 && a.tangent == 0));
}

TEST_CASE("comparisons look at the value alone") {
  CHECK(Dual(1, 5) == Dual(1, -5));
  CHECK_FALSE(Dual(1, 5) != Dual(1, -5));
  CHECK(Dual(1, 9) < Dual(2, 0));
  CHECK_FALSE(Dual(2, 0) < Dual(2, 1));
  CHECK(Dual(3) > Dual(2, 9));
  CHECK_FALSE(Dual(2, 1) > Dual(2));
  CHECK(Dual(2, 1) <= Dual(2));
  CHECK(Dual(2) >= Dual(2, 1));
  CHECK_FALSE(Dual(2) <= Dual(1));
  CHECK_FALSE(Dual(1) >= Dual(2));
}

TEST_CASE("a NaN compares with nothing and is found by its value") {
  CHECK_FALSE(Dual(quiet_nan) == Dual(quiet_nan));
  CHECK(Dual(quiet_nan) != Dual(quiet_nan));
  CHECK_FALSE(Dual(quiet_nan) < Dual(1));
  CHECK_FALSE(Dual(quiet_nan) >= Dual(1));
  CHECK(isnan(Dual(quiet_nan, 1)));
  CHECK_FALSE(isnan(Dual(1, quiet_nan)));
  CHECK(isfinite(Dual(1, infinity)));
  CHECK_FALSE(isfinite(Dual(infinity, 1)));
  CHECK_FALSE(isfinite(Dual(quiet_nan)));
}

TEST_CASE("exp, log, sqrt, tanh agree with six-point differences") {
  check_dual_rule(DUAL_RULE(exp), {-30, -2, -0.5, 0, 0.3, 1, 2, 10});
  check_dual_rule(DUAL_RULE(log), {0.01, 0.5, 1, 2, 10, 1e6});
  check_dual_rule(DUAL_RULE(sqrt), {0.01, 0.25, 1, 2, 1e6});
  check_dual_rule(DUAL_RULE(tanh), {-5, -2, -0.5, 0, 0.3, 1, 4});
}

TEST_CASE("pow moves with its base") {
  for (const double n : {-3.0, -1.0, -0.5, 0.0, 0.5, 1.0, 2.0, 3.5})
    check_dual_rule([n](Dual x) { return pow(x, Dual(n)); },
                    [n](auto x) { return std::pow(x, static_cast<decltype(x)>(n)); },
                    {0.5, 1, 2, 7});
  for (const double n : {-3.0, -2.0, 0.0, 1.0, 2.0, 3.0})
    check_dual_rule([n](Dual x) { return pow(x, Dual(n)); },
                    [n](auto x) { return std::pow(x, static_cast<decltype(x)>(n)); }, {-0.5, -2});
}

TEST_CASE("pow moves with its exponent") {
  for (const double x : {0.25, 1.0, 2.0, 9.0})
    check_dual_rule([x](Dual n) { return pow(Dual(x), n); },
                    [x](auto n) { return std::pow(static_cast<decltype(n)>(x), n); },
                    {-2, -0.5, 0, 1, 2.5});
}

TEST_CASE("pow moves with both at once") {
  const Dual y = pow(Dual(2, 0.3), Dual(1.5, -0.7));
  const double by_base = 1.5 * std::pow(2, 0.5), by_exponent = std::pow(2, 1.5) * std::log(2);
  CHECK_THAT(y.tangent, WithinRel(0.3 * by_base - 0.7 * by_exponent, 1e-14));
}

TEST_CASE("pow at its edges: a side that does not move contributes nothing") {
  CHECK(pow(Dual(-2, 1), Dual(3)).tangent == 12);  // log(−2) is not asked for
  CHECK(pow(Dual(0, 1), Dual(1)).tangent == 1);    // 1·0⁰
  CHECK(pow(Dual(0, 1), Dual(2)).tangent == 0);
  CHECK(pow(Dual(0, 1), Dual(0)).tangent == 0);  // not 0·0⁻¹
  CHECK(pow(Dual(0, 1), Dual(0.5)).tangent == infinity);
  CHECK(pow(Dual(0, 0), Dual(0.5)).tangent == 0);  // not 0·∞
  CHECK(pow(Dual(0), Dual(2, 1)).tangent == 0);    // the limit of xⁿ·log x
  CHECK(pow(Dual(0), Dual(0, 1)).tangent == 0);
  CHECK(pow(Dual(0), Dual(-1, 1)).tangent == -infinity);
  CHECK(std::isnan(pow(Dual(-2), Dual(2, 1)).tangent));
  CHECK(std::isnan(pow(Dual(quiet_nan, 1), Dual(2)).tangent));
  CHECK(pow(Dual(quiet_nan), Dual(0)).value == 1);
}

TEST_CASE("functions at the ends of the line") {
  CHECK(exp(Dual(-infinity, 1)).tangent == 0);
  CHECK(exp(Dual(infinity, 1)).tangent == infinity);
  CHECK(log(Dual(0, 1)).value == -infinity);
  CHECK(log(Dual(0, 1)).tangent == infinity);
  CHECK(sqrt(Dual(0, 1)).tangent == infinity);
  CHECK(log(Dual(0)).tangent == 0);  // 0/0 is not asked for
  CHECK(sqrt(Dual(0)).tangent == 0);
  CHECK(tanh(Dual(infinity, 1)).tangent == 0);
  CHECK(normal_cdf(Dual(-infinity, 1)).tangent == 0);
  CHECK(normal_density(Dual(-infinity, 1)).tangent == 0);
  CHECK((Dual(1, 0) / Dual(infinity, 1)).tangent == 0);
  CHECK(std::isnan(log(Dual(-1, 1)).value));
}
