// Functions of one number, element by element: y = f(x), dx = dy·f'(x).
#include "engine/array_math.h"
#include "engine/autograd.h"
#include "engine/kernels/parallel.h"
#include "engine/ops.h"
#include "engine/ops/vector_map.h"

namespace fledge {

namespace {

using kernels::select;
using kernels::splat;
using kernels::Vec;

/// dx_i = dy_i·slope(saved_i), where `saved` is x or y: the one that the formula of f' contains.
template <class Slope>
auto rule(const Array& saved, Slope slope) {
  return [saved, slope](const Array& dy) {
    return zip_equal("rule", dy, saved, [slope](Real d, Real s) { return d * slope(s); });
  };
}

/// y = f(x, c) with dx = dy ⊙ slope(x, c), where f and slope both need c = costly(x). The forward pass
/// computes c once, and the slope too: for gelu of 4096×1024 both passes take 6.7 ms instead of 8.8.
/// The loop is the same whether the op is recorded or not. With two loops GCC 12 fuses multiply-adds
/// differently, and one gelu in 24 would have another last bit under NoGrad.
template <class Costly, class F, class Slope>
Tensor with_slope(std::string_view op, const Tensor& x, Costly costly, F f, Slope slope) {
  const Array X = x.value();
  const bool kept = x.needs_grad() && recording();
  Array y(X.shape()), slopes(kept ? X.shape() : Shape{0});
  const Real* const from = X.data();
  Real* const to = y.write();
  Real* const to_slopes = slopes.write();
  const Dim grain = kernels::grain_of(X.size());
  kernels::parallel_ranges(X.size(), grain, 8 * X.size(), [=](Dim begin, Dim end) {
    kernels::by_vectors(end - begin, [=](Dim i, Dim count) {
      const Vec v = kernels::load(from + begin + i, count);
      const auto c = costly(v);
      kernels::store(to + begin + i, f(v, c), count);
      if (kept) kernels::store(to_slopes + begin + i, slope(v, c), count);
    });
  });
  return record(op, y, wrt(x, [slopes](const Array& dy) { return dy * slopes; }));
}

}  // namespace

/// y = eˣ               f' = y
Tensor exp(const Tensor& x) {
  const Array y = map_vectors(x.value(), [](Vec v) { return exp(v); });
  return record("exp", y, wrt(x, [y](const Array& dy) { return dy * y; }));
}

/// y = log x            f' = 1/x
Tensor log(const Tensor& x) {
  const Array X = x.value();
  return record("log", map_vectors(X, [](Vec v) { return log(v); }),
                wrt(x, [X](const Array& dy) { return dy / X; }));
}

/// y = √x               f' = 1 / 2y
Tensor sqrt(const Tensor& x) {
  const Array y = map(x.value(), [](Real v) { return sqrt(v); });
  return record("sqrt", y, wrt(x, rule(y, [](Real v) { return Real(0.5) / v; })));
}

/// y = tanh x           f' = 1 − y²
Tensor tanh(const Tensor& x) {
  const Array y = map_vectors(x.value(), [](Vec v) { return tanh(v); });
  return record("tanh", y, wrt(x, rule(y, [](Real v) { return Real(1) - v * v; })));
}

/// y = 1 / (1 + e⁻ˣ)    f' = y·(1 − y)            the exponent is never positive: no overflow
Tensor sigmoid(const Tensor& x) {
  const Array y = map_vectors(x.value(), [](Vec v) {
    const auto negative = v < Real(0);
    const Vec e = exp(select(negative, v, -v));
    return select(negative, e, splat(Real(1))) / (Real(1) + e);
  });
  return record("sigmoid", y, wrt(x, rule(y, [](Real v) { return v * (Real(1) - v); })));
}

/// y = max(x, 0)        f' = 1 for x > 0, else 0; NaN stays NaN
Tensor relu(const Tensor& x) {
  const Array X = x.value();
  return record("relu", map(X, [](Real v) { return v <= Real(0) ? Real(0) : v; }),
                wrt(x, [X](const Array& dy) {
                  return zip("rule", dy, X, [](Real d, Real v) {  // not 0·dy: ∞ stays outside
                    return v <= Real(0) ? Real(0) : v > Real(0) ? d : v;
                  });
                }));
}

/// y = x·Φ(x)           f' = Φ(x) + x·φ(x)
Tensor gelu(const Tensor& x) {
  return with_slope(
      "gelu", x, [](Vec v) { return normal_cdf(v); },
      [](Vec, const NormalCdf& n) { return n.weighted; },
      [](Vec v, const NormalCdf& n) {  // φ is 0 far out, where v may be infinite
        return n.cdf + select(n.density == Real(0), splat(Real(0)), v * n.density);
      });
}

namespace {

constexpr double gelu_scale = 0.7978845608028654;  // √(2/π)
constexpr double gelu_cubic = 0.044715;            // Hendrycks & Gimpel 2016, section 2

// t = tanh(√(2/π)·(x + 0.044715·x³))
Vec gelu_bend(Vec x) { return tanh(Real(gelu_scale) * (x + Real(gelu_cubic) * x * x * x)); }

}  // namespace

/// y = ½·x·(1 + t)      f' = ½·(1 + t) + ½·x·(1 − t²)·√(2/π)·(1 + 3·0.044715·x²)
Tensor gelu_tanh(const Tensor& x) {
  return with_slope(
      "gelu_tanh", x, [](Vec v) { return gelu_bend(v); },
      [](Vec v, Vec t) { return Real(0.5) * v * (Real(1) + t); },
      [](Vec v, Vec t) {
        const Vec flat = Real(1) - t * t;
        const Vec dt = Real(gelu_scale) * (Real(1) + Real(3 * gelu_cubic) * v * v);
        const Vec bent = Real(0.5) * v * flat * dt;
        // far out flat is 0 and v·dt may be infinite
        return Real(0.5) * (Real(1) + t) + select(flat == Real(0), splat(Real(0)), bent);
      });
}

}  // namespace fledge
