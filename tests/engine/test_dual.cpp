// Dual numbers: arithmetic, and the ends of the line. That a tangent is the derivative is proved
// by the table of ops (ops/test_op_table.cpp): there it equals differences and backward().
#include "engine/dual.h"

#include "engine/array_math.h"
#include "engine/autograd.h"
#include "engine/ops.h"
#include "tests/support/arrays.h"
#include "tests/support/catch.h"

using namespace tests;

TEST_CASE("sums, differences, products and quotients, also assigned and of itself") {
  const auto is = [](Dual x, double value, double tangent) {
    return x.value == value && x.tangent == tangent;
  };
  const Dual a(3, 0.5), b(-2, 7);
  CHECK((is(Dual(), 0, 0) && is(Dual(3), 3, 0)));  // a number alone does not move
  CHECK(is(a + b, 1, 7.5));
  CHECK(is(a - b, 5, -6.5));
  CHECK(is(a * b, -6, 0.5 * -2 + 3 * 7));
  CHECK(is(a / b, -1.5, (0.5 * -2 - 3 * 7.0) / 4));
  CHECK(is(-a, -3, -0.5));
  Dual c = a;
  const Dual& same = c;
  CHECK(is(c += Dual(1, 1), 4, 1.5));
  CHECK(is(c -= Dual(2, 1), 2, 0.5));
  CHECK(is(c *= same, 4, 2));
  CHECK(is(c /= same, 1, 0));
  CHECK(is(c += same, 2, 0));
  CHECK(is(c -= same, 0, 0));
}

TEST_CASE("comparisons look at the value alone; a NaN compares with nothing") {
  const double values[] = {-infinity, 1, 2, infinity, quiet_nan};
  for (const double p : values)
    for (const double q : values)
      for (const double tangent : {-5.0, 0.0, infinity, quiet_nan}) {
        const Dual x(p, tangent), y(q, 1);
        CAPTURE(p, q, tangent);
        CHECK((x == y) == (p == q));
        CHECK((x != y) == (p != q));
        CHECK((x < y) == (p < q));
        CHECK((x > y) == (p > q));
        CHECK((x <= y) == (p <= q));
        CHECK((x >= y) == (p >= q));
        CHECK(isnan(x) == std::isnan(p));
        CHECK(isfinite(x) == std::isfinite(p));
      }
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
  CHECK(log1p(Dual(-1)).tangent == 0);
  CHECK(expm1(Dual(-infinity, 1)).tangent == 0);
  CHECK((abs(Dual(-3, 2)).tangent == -2 && abs(Dual(-0.0, 2)).tangent == 0));
}

// The tangents of a gradient are Hessian-vector products: H·u, for parameters that move along u.
// That they are is proved for every op by ops/test_op_table.cpp.
TEST_CASE("gradients accumulate with their tangents") {
  const Array x = uniform({3}, 1), u = uniform({3}, 2), expected = u * Real(2) + x * u * Real(6);
  const Tensor w = parameter(with_tangents(x.clone(), u));
  backward(sum(w * w));
  backward(sum(w * w * w));
  for (Dim i = 0; i < 3; ++i)
    CHECK_THAT(w.grad()[i].tangent, WithinAbs(value_of(expected[i]), 10 * rounding));
}
