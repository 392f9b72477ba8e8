// Functions of one number, element by element: y = f(x), dx = dy·f'(x).
#include "engine/array_math.h"
#include "engine/autograd.h"
#include "engine/kernels/parallel.h"
#include "engine/kernels/simd_math.h"
#include "engine/ops.h"

namespace fledge {

namespace {

using kernels::select;
using kernels::splat;

struct Point {
  Vec y, slope;  // f(x) and f'(x)
};

/// y = f(x) with dx = dy ⊙ f'(x); f returns a Point. The forward pass computes the slope too,
/// because both need the same costly function. The loop is the same whether the op is recorded or
/// not: of two loops GCC 12 fuses multiply-adds differently, and some last bits would differ.
template <class F>
Tensor curve(std::string_view op, const Tensor& x, F f) {
  const Array X = x.value();
  const bool kept = x.needs_grad() && recording();
  Array y(X.shape()), slopes(kept ? X.shape() : Shape{0});
  const Real* const from = X.data();
  Real* const to = y.write();
  Real* const to_slopes = slopes.write();
  const Dim grain = kernels::grain_of(X.size());
  kernels::parallel_ranges(X.size(), grain, 8 * X.size(), [=](Dim begin, Dim end) {
    kernels::by_vectors(end - begin, [=](Dim i, Dim count) {
      const Point p = f(kernels::load(from + begin + i, count));
      kernels::store(to + begin + i, p.y, count);
      if (kept) kernels::store(to_slopes + begin + i, p.slope, count);
    });
  });
  return record(op, y, wrt(x, [slopes](const Array& dy) { return dy * slopes; }));
}

// y = σ(x) = 1 / (1 + e⁻ˣ) and its slope. With p = exp(−|x|) and w = 1 / (1 + p), y = w for x ≥ 0
// and y = p·w for x < 0; nothing overflows. The slope y·(1 − y) equals p·w², which is more exact:
// 1 − y has few digits where y is near 1.
Point logistic(Vec x) {
  const auto negative = x < Real(0);
  const Vec p = exp(select(negative, x, -x)), w = Real(1) / (Real(1) + p);
  return {select(negative, p * w, w), p * w * w};
}

}  // namespace

/// y = eˣ               f' = y
Tensor exp(const Tensor& x) {
  return curve("exp", x, [](Vec v) {
    const Vec y = exp(v);
    return Point{y, y};
  });
}

/// y = log x            f' = 1/x                  dx = dy / x: of a tiny x alone 1/x is infinite
Tensor log(const Tensor& x) {
  const Array X = x.value();
  const Tensor y = curve("log", Tensor(X), [](Vec v) { return Point{log(v), v}; });
  return record("log", y.value(), wrt(x, [X](const Array& dy) { return dy / X; }));
}

/// y = √x               f' = 1 / 2y
Tensor sqrt(const Tensor& x) {
  return curve("sqrt", x, [](Vec v) {
    const Vec y = sqrt(v);
    return Point{y, Real(0.5) / y};
  });
}

/// y = tanh x           f' = 1 − y² = 4p / (1 + p)², p = exp(−2|x|): 1 − y² has few digits far out
Tensor tanh(const Tensor& x) {
  return curve("tanh", x, [](Vec v) {
    const Vec p = exp(Real(-2) * select(v < Real(0), -v, v)), w = Real(1) / (Real(1) + p);
    return Point{tanh(v), Real(4) * p * w * w};
  });
}

/// y = 1 / (1 + e⁻ˣ)    f' = y·(1 − y): see logistic()
Tensor sigmoid(const Tensor& x) {
  return curve("sigmoid", x, [](Vec v) { return logistic(v); });
}

/// y = log(1 + eˣ) = max(x, 0) + log(1 + e^(−|x|))      f' = σ(x)
Tensor softplus(const Tensor& x) {
  return curve("softplus", x, [](Vec v) {
    const auto negative = v < Real(0);
    const Vec p = exp(select(negative, v, -v));
    return Point{select(negative, splat(Real(0)), v) + log1p(p), logistic(v).y};
  });
}

/// y = log(1 + x)       f' = 1 / (1 + x)
Tensor log1p(const Tensor& x) {
  return curve("log1p", x, [](Vec v) { return Point{log1p(v), Real(1) / (Real(1) + v)}; });
}

/// y = eˣ − 1           f' = eˣ
Tensor expm1(const Tensor& x) {
  return curve("expm1", x, [](Vec v) { return Point{expm1(v), exp(v)}; });
}

/// y = sin x            f' = cos x
Tensor sin(const Tensor& x) {
  return curve("sin", x, [](Vec v) {
    const SinCosVec at = sin_cos(v);
    return Point{at.sine, at.cosine};
  });
}

/// y = cos x            f' = −sin x
Tensor cos(const Tensor& x) {
  return curve("cos", x, [](Vec v) {
    const SinCosVec at = sin_cos(v);
    return Point{at.cosine, -at.sine};
  });
}

/// y = |x|              dx = dy for x > 0, −dy for x < 0, 0 at 0; NaN stays NaN
Tensor abs(const Tensor& x) {
  const Array X = x.value();
  return record("abs", map(X, [](Real v) { return abs(v); }), wrt(x, [X](const Array& dy) {
                  return zip("rule", dy, X, [](Real d, Real v) {  // not 0·dy: ∞ stays outside
                    return v == Real(0) ? Real(0) : v < Real(0) ? -d : v > Real(0) ? d : v;
                  });
                }));
}

/// y = min(max(x, low), high)      dx = dy for low ≤ x ≤ high, else 0; NaN stays NaN
Tensor clamp(const Tensor& x, double low, double high) {
  require<ValueError>(low <= high, "clamp", "low must not be above high: got ", low, " and ", high);
  const Array X = x.value();
  const Real least = Real(low), most = Real(high);
  return record("clamp", map(X, [=](Real v) { return v < least  ? least
                                                     : v > most ? most
                                                                : v; }),
                wrt(x, [=](const Array& dy) {
                  return zip("rule", dy, X, [=](Real d, Real v) {
                    return v < least || v > most ? Real(0) : isnan(v) ? v : d;
                  });
                }));
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
  return curve("gelu", x, [](Vec v) {
    const NormalCdf n = normal_cdf(v);
    // φ is 0 far out, where v may be infinite
    const Vec bent = select(n.density == Real(0), splat(Real(0)), v * n.density);
    return Point{n.weighted, n.cdf + bent};
  });
}

/// y = ½·x·(1 + tanh u) = x·s              f' = s + x·s·(1 − s)·2u'
///
///   s = σ(2u), u = √(2/π)·(x + 0.044715·x³)        Hendrycks & Gimpel 2016, section 2
Tensor gelu_tanh(const Tensor& x) {
  constexpr double scale = 1.5957691216057308;  // 2·√(2/π)
  constexpr double cubic = 0.044715;
  return curve("gelu_tanh", x, [](Vec v) {
    const Vec square = v * v;
    const auto [s, flat] = logistic(Real(scale) * v * (Real(1) + Real(cubic) * square));
    const Vec inner_slope = Real(scale) * (Real(1) + Real(3 * cubic) * square);
    // far out flat is 0 and v·inner_slope may be infinite
    const Vec bent = select(flat == Real(0), splat(Real(0)), v * flat * inner_slope);
    return Point{v * s, s + bent};
  });
}

/// y = x·s, s = σ(x)    f' = s + x·s·(1 − s)
Tensor silu(const Tensor& x) {
  return curve("silu", x, [](Vec v) {
    const auto [s, flat] = logistic(v);
    // far out flat is 0 and v may be infinite
    return Point{v * s, s + select(flat == Real(0), splat(Real(0)), v * flat)};
  });
}

}  // namespace fledge
