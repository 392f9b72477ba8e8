// + − × ÷, negation, powers and choice: y = f(a, b) element by element. The engine undoes
// broadcasts.
#include "engine/array_math.h"
#include "engine/autograd.h"
#include "engine/base/errors.h"
#include "engine/ops.h"

namespace fledge {

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

/// y = a/b              da = dy/b          db = −dy·y/b
Tensor operator/(const Tensor& a, const Tensor& b) {
  const Array B = b.value(), Y = a.value() / B;
  return record("/", Y,  //
                wrt(a, [B](const Array& dy) { return dy / B; }),
                wrt(b, [B, Y](const Array& dy) { return -(dy * Y / B); }));
}

namespace {

// n·xⁿ⁻¹, and 0 for n = 0 even at x = 0.
Real power_slope(Real x, Real n) { return n == Real(0) ? Real(0) : n * pow(x, n - Real(1)); }

// xⁿ·log x, and its limit 0 at x = 0 for n ≥ 0.
Real exponent_slope(Real x, Real n) {
  return x == Real(0) && n >= Real(0) ? Real(0) : pow(x, n) * log(x);
}

}  // namespace

/// y = xⁿ               dx = dy·n·xⁿ⁻¹     dn = dy·xⁿ·log x
Tensor pow(const Tensor& x, const Tensor& n) {
  const Array X = x.value(), N = n.value();
  return record("pow", zip("pow", X, N, [](Real base, Real power) { return pow(base, power); }),
                wrt(x, [X, N](const Array& dy) { return dy * zip("pow", X, N, power_slope); }),
                wrt(n, [X, N](const Array& dy) { return dy * zip("pow", X, N, exponent_slope); }));
}

/// y = a where c, else b      da = dy where c, else 0      db = 0 where c, else dy
Tensor where(const Array& condition, const Tensor& a, const Tensor& b) {
  require<ValueError>(condition.exists(), "where", "the condition is no array");
  const Array C = condition;
  const Shape shape = broadcast(broadcast(a.shape(), b.shape(), "where"), C.shape(), "where");
  const Array A = broadcast_to(a.value(), shape), B = broadcast_to(b.value(), shape);
  const auto if_true = [](Real c, Real value) { return c != Real(0) ? value : Real(0); };
  const auto if_false = [](Real c, Real value) { return c != Real(0) ? Real(0) : value; };

  Array Y(shape);
  const Array chosen = broadcast_to(C, shape);
  const Real *const c = chosen.data(), *const from_a = A.data(), *const from_b = B.data();
  Real* y = Y.write();
  for (Dim i = 0; i < Y.size(); ++i) y[i] = c[i] != Real(0) ? from_a[i] : from_b[i];

  return record("where", Y,
                wrt(a, [C, if_true](const Array& dy) { return zip("where", C, dy, if_true); }),
                wrt(b, [C, if_false](const Array& dy) { return zip("where", C, dy, if_false); }));
}

}  // namespace fledge
