// + − × ÷, negation, powers and choice: y = f(a, b) element by element. The engine undoes
// broadcasts.
#include <functional>
#include <type_traits>

#include "engine/array_math.h"
#include "engine/autograd.h"
#include "engine/ops.h"

namespace fledge {

namespace {

// In the float build products of three are computed in double: none overflows or vanishes on the
// way to a result that a float can hold.
using Wide = std::conditional_t<std::is_same_v<Real, float>, double, Real>;

// dx_i = f(dy_i, a_i, b_i) after broadcasting a and b to the shape of dy.
template <class F>
Array rule_of_two(const Array& dy, const Array& a, const Array& b, F f) {
  Array dx(dy.shape());
  const Array A = broadcast_to(a, dy.shape()), B = broadcast_to(b, dy.shape());
  const auto rounded = [f](Real d, Real x, Real y) {
    return static_cast<Real>(f(Wide(d), Wide(x), Wide(y)));
  };
  detail::transform(dx.size(), rounded, dx.write(), dy.data(), A.data(), B.data());
  return dx;
}

}  // namespace

/// y = a + b            da = dy            db = dy
Tensor operator+(const Tensor& a, const Tensor& b) {
  return record("+", a.value() + b.value(),  //
                wrt(a, [](const Array& dy) { return dy; }),
                wrt(b, [](const Array& dy) { return dy; }));
}

/// y = a − b            da = dy            db = −dy
Tensor operator-(const Tensor& a, const Tensor& b) {
  return record("-", a.value() - b.value(),  //
                wrt(a, [](const Array& dy) { return dy; }),
                wrt(b, [](const Array& dy) { return -dy; }));
}

/// y = −x               dx = −dy
Tensor operator-(const Tensor& x) {
  return record("neg", -x.value(), wrt(x, [](const Array& dy) { return -dy; }));
}

/// y = a·b              da = dy·b          db = dy·a
Tensor operator*(const Tensor& a, const Tensor& b) {
  const Array A = a.value(), B = b.value();
  return record("*", A * B,  //
                wrt(a, [B](const Array& dy) { return dy * B; }),
                wrt(b, [A](const Array& dy) { return dy * A; }));
}

namespace {

// −dy·y/b. A Dual has no wider type. The step that makes dy smaller comes first, which overflows
// less often; where dy is tiny, it may underflow (dy = 1e-300, b = 1e100, y = 1e200).
Wide divisor_slope(Wide dy, Wide y, Wide b) {
  const bool divide_first = b >= Wide(1) || b <= Wide(-1);
  return divide_first ? -(dy / b * y) : -(dy * y / b);
}

}  // namespace

/// y = a/b              da = dy/b          db = −dy·y/b
Tensor operator/(const Tensor& a, const Tensor& b) {
  const Array A = a.value(), B = b.value();
  return record("/", A / B,  //
                wrt(a, [B](const Array& dy) { return dy / B; }), wrt(b, [A, B](const Array& dy) {
                  return rule_of_two(
                      dy, A, B, [](Wide d, Wide x, Wide y) { return divisor_slope(d, x / y, y); });
                }));
}

namespace {

// n·xⁿ⁻¹, and 0 for n = 0 even at x = 0.
Wide power_slope(Wide x, Wide n) { return n == Wide(0) ? Wide(0) : n * pow(x, n - Wide(1)); }

// xⁿ·log x, and its limit 0 at x = 0 for n ≥ 0.
Wide exponent_slope(Wide x, Wide n) {
  return x == Wide(0) && n >= Wide(0) ? Wide(0) : pow(x, n) * log(x);
}

}  // namespace

/// y = xⁿ               dx = dy·n·xⁿ⁻¹     dn = dy·xⁿ·log x
Tensor pow(const Tensor& x, const Tensor& n) {
  const Array X = x.value(), N = n.value();
  const auto times = [X, N](auto slope) {
    return [X, N, slope](const Array& dy) {
      return rule_of_two(dy, X, N, [=](Wide d, Wide b, Wide p) { return d * slope(b, p); });
    };
  };
  return record("pow", zip("pow", X, N, [](Real base, Real power) { return pow(base, power); }),
                wrt(x, times(power_slope)), wrt(n, times(exponent_slope)));
}

/// y = a where c, else b      da = dy where c, else 0      db = 0 where c, else dy
Tensor where(const Array& condition, const Tensor& a, const Tensor& b) {
  require<ValueError>(condition.exists(), "where", "the condition is no array");
  const Array C = condition;
  const Shape shape = broadcast(broadcast(a.shape(), b.shape(), "where"), C.shape(), "where");
  const Array A = broadcast_to(a.value(), shape), B = broadcast_to(b.value(), shape),
              chosen = broadcast_to(C, shape);
  const auto choose = [](Real c, Real x, Real y) { return c != Real(0) ? x : y; };
  const auto if_true = [](Real c, Real value) { return c != Real(0) ? value : Real(0); };
  const auto if_false = [](Real c, Real value) { return c != Real(0) ? Real(0) : value; };

  Array Y(shape);
  detail::transform(Y.size(), choose, Y.write(), chosen.data(), A.data(), B.data());
  return record("where", Y,
                wrt(a, [C, if_true](const Array& dy) { return zip("where", C, dy, if_true); }),
                wrt(b, [C, if_false](const Array& dy) { return zip("where", C, dy, if_false); }));
}

namespace {

// 1 where holds(a_i, b_i), else 0.
template <class F>
Array compare(std::string_view op, const Tensor& a, const Tensor& b, F holds) {
  return zip(op, a.value(), b.value(), [holds](Real x, Real y) { return Real(holds(x, y)); });
}

}  // namespace

/// y = max(a, b)        da = dy where a ≥ b, else 0            db = dy where a < b, else 0
Tensor maximum(const Tensor& a, const Tensor& b) {
  return where(compare("maximum", a, b, [](Real x, Real y) { return x >= y || isnan(x); }), a, b);
}

/// y = min(a, b)        da = dy where a ≤ b, else 0            db = dy where a > b, else 0
Tensor minimum(const Tensor& a, const Tensor& b) {
  return where(compare("minimum", a, b, [](Real x, Real y) { return x <= y || isnan(x); }), a, b);
}

Array operator<(const Tensor& a, const Tensor& b) { return compare("<", a, b, std::less<>()); }
Array operator<=(const Tensor& a, const Tensor& b) {
  return compare("<=", a, b, std::less_equal<>());
}
Array operator>(const Tensor& a, const Tensor& b) { return compare(">", a, b, std::greater<>()); }
Array operator>=(const Tensor& a, const Tensor& b) {
  return compare(">=", a, b, std::greater_equal<>());
}
Array operator==(const Tensor& a, const Tensor& b) {
  return compare("==", a, b, std::equal_to<>());
}
Array operator!=(const Tensor& a, const Tensor& b) {
  return compare("!=", a, b, std::not_equal_to<>());
}

}  // namespace fledge
