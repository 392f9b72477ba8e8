// 66 right functions that are hard to check, which are not accused, and 70 wrong ones, which do not
// pass: beside each stands what its report names.
#include <cmath>
#include <stdexcept>

#include "engine/array_math.h"
#include "engine/autograd.h"
#include "engine/gradcheck/gradcheck.h"
#include "engine/masks.h"
#include "engine/ops.h"
#include "tests/support/arrays.h"
#include "tests/support/catch.h"

using namespace tests;

namespace {

using In = const std::vector<Tensor>&;

struct Row {
  std::string name;
  std::vector<Shape> shapes;  // of inputs drawn from the normal distribution …
  std::function<Tensor(In)> f;
  std::vector<double> values = {};  // … or the values of the only input
  std::string expected = "";        // a part of what the report names; empty: nothing
};

std::vector<Array> inputs_of(const Row& row, std::uint64_t seed) {
  if (!row.values.empty()) return {Array(row.shapes[0], row.values)};
  Rng rng(seed);
  std::vector<Array> inputs;
  for (const Shape& shape : row.shapes) inputs.push_back(random_normal(shape, 0, 1, rng));
  return inputs;
}

/// dx_i = dx(dy, i) for a function of one argument.
template <class F>
Tensor ruled(const Tensor& x, const Array& y, F dx) {
  return record("ruled", y, wrt(x, [shape = x.shape(), dx](const Array& dy) {
                  Array result(shape);
                  Real* to = result.write();
                  for (Dim i = 0; i < result.size(); ++i) to[i] = dx(dy, i);
                  return result;
                }));
}

Tensor number(double x) { return Tensor(x); }
Tensor ones(Dim n) { return Tensor(Array::ones({n})); }
Tensor zeros(Dim n) { return Tensor(Array::zeros({n})); }
Tensor shifted(const Tensor& x, double c) { return (x + number(c)) - number(c); }
Tensor variance(const Tensor& x) { return mean(x * x) - mean(x) * mean(x); }
Tensor absolute(const Tensor& x) { return relu(x) + relu(-x); }
Tensor norm(const Tensor& x) { return layer_norm(x, ones(x.dim(-1)), zeros(x.dim(-1))); }

/// Running sums along the only axis; dx_j = Σ_{i ≥ j} dy_i. `kind`: r(ight), f(orward), s(hifted).
Tensor running_sum(const Tensor& x, char kind = 'r') {
  Array y = x.value().clone();
  for (Dim i = 1; i < y.size(); ++i) y.write()[i] += y[i - 1];
  return ruled(x, y, [kind](const Array& dy, Dim j) {
    Real total = 0;
    const Dim n = dy.size();
    for (Dim i = 0; i < n; ++i)
      if (kind == 'r' ? i >= j : kind == 'f' ? i <= j : i > j) total += dy[i];
    return total;
  });
}

/// Row t of x (T, 2) is turned by the angle t; `sign` is that of the angle in the rule, which leaves
/// out rows from `rows` on.
Tensor rotary(const Tensor& x, double sign = 1, Dim rows = 1000) {
  const auto turned = [](const Array& a, Dim i, double by, Dim count) {
    const Dim t = i / 2;
    if (t >= count) return Real(0);
    const double angle = by * static_cast<double>(t);
    const Real p = a[2 * t], q = a[2 * t + 1];
    return i % 2 == 0 ? p * Real(std::cos(angle)) - q * Real(std::sin(angle))
                      : p * Real(std::sin(angle)) + q * Real(std::cos(angle));
  };
  Array y(x.shape());
  for (Dim i = 0; i < y.size(); ++i) y.write()[i] = turned(x.value(), i, 1, 1000);
  return ruled(x, y, [=](const Array& dy, Dim i) { return turned(dy, i, -sign, rows); });
}

/// The larger of each pair; `kind`: r(ight), m(ean), o(ther).
Tensor max_of_pairs(const Tensor& x, char kind = 'r') {
  const Array X = x.value();
  Array y({X.size() / 2});
  for (Dim i = 0; i < y.size(); ++i)
    y.write()[i] = X[2 * i] < X[2 * i + 1] ? X[2 * i + 1] : X[2 * i];
  return ruled(x, y, [X, kind](const Array& dy, Dim i) {
    const Dim first = i / 2 * 2;
    const bool is_larger = (X[first] < X[first + 1]) == (i > first);
    if (kind == 'm') return dy[i / 2] * Real(0.5);
    return is_larger == (kind == 'r') ? dy[i / 2] : Real(0);
  });
}

/// x / sqrt(mean(x²)) of a vector; `kind`: r(ight), p: without the projection, c: C − 1 for C.
Tensor rms_norm(const Tensor& x, char kind = 'r') {
  const Array X = x.value();
  const Dim n = X.size();
  Real squares = 0;
  for (Dim i = 0; i < n; ++i) squares += X[i] * X[i];
  const Real r = Real(1) / sqrt(squares / real(n));
  return ruled(x, X * r, [X, r, n, kind](const Array& dy, Dim i) {
    Real dot = 0;
    for (Dim j = 0; j < n; ++j) dot += dy[j] * X[j];
    const Real projected = dot * X[i] * r * r / real(kind == 'c' ? n - 1 : n);
    return r * (kind == 'p' ? dy[i] : dy[i] - projected);
  });
}

/// y = x·σ(x) with dx = dy·(first·σ + second·x·σ·(1 − σ))
Tensor silu(const Tensor& x, double first = 1, double second = 1) {
  const Array X = x.value(), s = sigmoid(x).value();
  return ruled(x, X * s, [=](const Array& dy, Dim i) {
    return dy[i] * (Real(first) * s[i] + Real(second) * X[i] * s[i] * (Real(1) - s[i]));
  });
}

/// softmax of a vector; dx = y·(dy − Σ_j weight·dy_j·y_j), without y in the sum if `bare`
Tensor soft(const Tensor& x, double weight = 1, bool bare = false) {
  const Array y = softmax(x).value();
  return ruled(x, y, [=](const Array& dy, Dim i) {
    Real dot = 0;
    for (Dim j = 0; j < y.size(); ++j) dot += bare ? dy[j] : dy[j] * y[j];
    return y[i] * (dy[i] - Real(weight) * dot);
  });
}

/// Row `from[i]` of x; the rule of `kind`: r(ight), o(verwrites), s(kips row 0)
Tensor gather(const Tensor& x, char kind = 'r') {
  static const std::vector<Dim> from{2, 0, 2, 1};
  const Array X = x.value();
  const Dim c = x.dim(1);
  Array y({4, c});
  for (Dim i = 0; i < y.size(); ++i)
    y.write()[i] = X[from[static_cast<std::size_t>(i / c)] * c + i % c];
  return record("gather", y, wrt_adding(x, [kind, c](const Array& dy, Real* dx) {
                  for (Dim i = 0; i < dy.size(); ++i) {
                    const Dim row = from[static_cast<std::size_t>(i / c)];
                    if (kind == 's' && row == 0) continue;
                    Real& to = dx[row * c + i % c];
                    to = (kind == 'o' ? Real(0) : to) + dy[i];
                  }
                }));
}

/// A right function whose rule multiplies dx, element i, by factor(x_i, i), and gets dy by way of
/// bend(dy).
template <class Factor>
Tensor spoiled(const Tensor& x, Factor factor) {
  const Array X = x.value();
  return ruled(x, X.clone(), [X, factor](const Array& dy, Dim i) {
    return dy[i] * Real(factor(value_of(X[i]), i));
  });
}

Tensor scaled(const Tensor& x, double factor) {
  return spoiled(x, [factor](double, Dim) { return factor; });
}

template <class Bend>
Tensor bent(const Tensor& x, Bend bend) {
  return ruled(x, x.value().clone(), [bend](const Array& dy, Dim i) { return bend(dy[i]); });
}

/// x, with dx_i = dy_from(i), or 0 where from(i) is −1.
template <class From>
Tensor moved(const Tensor& x, From from) {
  return ruled(x, x.value().clone(), [from](const Array& dy, Dim i) {
    const Dim j = from(i);
    return j < 0 ? Real(0) : dy[j];
  });
}

/// C = A·B with a part of its rules wrong.
Tensor product_of(const Tensor& a, const Tensor& b, const std::string& wrong) {
  const Array A = a.value(), B = b.value();
  return record("product", product(A, B),
                wrt(a,
                    [=](const Array& dC) {
                      if (wrong == "A: B") return product(dC, B);
                      if (wrong == "A: transposed")
                        return transpose(Tensor(product(dC, transposed(B)))).value().clone();
                      return product(dC, transposed(B));
                    }),
                wrt(b, [=](const Array& dC) {
                  return wrong == "B: A" ? product(A, dC) : product(transposed(A), dC);
                }));
}

/// x + b over rows; db from row `row` alone, or from all; times `factor`
Tensor add_bias(In in, Dim row, double factor = 1) {
  return record("add_bias", in[0].value() + in[1].value(),
                wrt(in[0], [](const Array& dy) { return dy; }), wrt(in[1], [=](const Array& dy) {
                  Array db({3});
                  for (Dim j = 0; j < 3; ++j) {
                    Real total = 0;
                    for (Dim i = 0; i < 4; ++i)
                      if (row < 0 || row == i) total += dy[i * 3 + j];
                    db.write()[j] = total * Real(factor);
                  }
                  return db;
                }));
}

/// Layer norm of each row, whose rule lacks the mean of dy (m), the projection (p) or both (b).
Tensor norm_without(const Tensor& x, char what) {
  const Array Y = norm(x).value(), X = x.value();
  const Dim n = x.dim(-1);
  return ruled(x, Y, [=](const Array& dy, Dim i) {
    const Dim row = i / n * n;
    Real sum_dy = 0, dot = 0, mean_x = 0, squares = 0;
    for (Dim j = row; j < row + n; ++j) {
      sum_dy += dy[j], dot += dy[j] * Y[j], mean_x += X[j] / real(n);
    }
    for (Dim j = row; j < row + n; ++j) squares += (X[j] - mean_x) * (X[j] - mean_x) / real(n);
    Real dx = dy[i];
    if (what == 'p' || what == 'r') dx -= sum_dy / real(n);
    if (what == 'm' || what == 'r') dx -= Y[i] * dot / real(n);
    return dx / sqrt(squares + Real(1e-5));
  });
}

Dim count_positive(const Tensor& x) {
  Dim count = 0;
  for (Dim i = 0; i < x.size(); ++i) count += value_of(x.value()[i]) > 0 ? 1 : 0;
  return count;
}

Tensor if_positive(const Tensor& x, const Tensor& y) {
  if (count_positive(x) < x.size()) throw std::invalid_argument("x must be positive");
  return y;
}

std::vector<Row> right_functions() {
  std::vector<Row> rows = {
      // large numbers that cancel on the way
      {"softmax(x + 1e7)", {{4}}, [](In x) { return softmax(x[0] + number(1e7)); }},
      {"log_softmax(x + 1e8)", {{4}}, [](In x) { return log_softmax(x[0] + number(1e8)); }},
      {"layer_norm(x + 1e6)", {{2, 5}}, [](In x) { return norm(x[0] + number(1e6)); }},
      {"layer_norm(x + 1e7)", {{2, 5}}, [](In x) { return norm(x[0] + number(1e7)); }},
      {"exp of a shifted x", {{3}}, [](In x) { return exp(shifted(x[0], 1e6)); }},
      {"sigmoid of a shifted x", {{3}}, [](In x) { return sigmoid(shifted(x[0], 1e9)); }},
      {"two shifts", {{3}, {3}}, [](In x) { return shifted(x[0], 1e8) * shifted(x[1], 1e5); }},
      {"shift inside a product",
       {{2, 3}, {3, 2}},
       [](In x) { return matmul(shifted(x[0], 1e7), x[1]); }},
      {"variance", {{6}}, [](In x) { return variance(x[0]); }},
      {"variance about 1e2", {{6}}, [](In x) { return variance(x[0] + number(1e2)); }},
      {"variance about 1e4", {{6}}, [](In x) { return variance(x[0] + number(1e4)); }},
      {"(x - 1e6)^2 less its constants",
       {{3}},
       [](In x) {
         const Tensor y = x[0] - number(1e6);
         return y * y - number(1e12) + x[0] * number(2e6);
       }},
      {"1 - tanh(x + 8)", {{3}}, [](In x) { return 1.0 - tanh(x[0] + 8.0); }},
      {"log(1 - tanh(x + 8))", {{3}}, [](In x) { return log(1.0 - tanh(x[0] + 8.0)); }},
      {"1e8 (1 - tanh(x + 10))", {{3}}, [](In x) { return (1.0 - tanh(x[0] + 10.0)) * 1e8; }},
      {"log(1e8 exp(x) + 1e-3)", {{3}}, [](In x) { return log(exp(x[0]) * 1e8 + 1e-3); }},
      {"sqrt(x^2 + 1e10) - 1e5", {{3}}, [](In x) { return sqrt(x[0] * x[0] + 1e10) - 1e5; }},
      {"x 1e8 - x (1e8 - 1)", {{3}}, [](In x) { return x[0] * 1e8 - x[0] * (1e8 - 1); }},
      {"a - b + b", {{3}, {3}}, [](In x) { return x[0] - x[1] * 1e6 + x[1] * 1e6 + x[1]; }},
      {"(exp(x) - 1)/x near 0",
       {{2}},
       [](In x) { return (exp(x[0]) - 1.0) / x[0]; },
       {1e-4, -2e-5}},
      {"exp(x) exp(-x) + x", {{3}}, [](In x) { return exp(x[0]) * exp(-x[0]) + x[0]; }},
      {"mean of x + 1e9, less 1e9", {{5}}, [](In x) { return mean(x[0] + 1e9) - 1e9; }},
      {"x^2 + 1e8", {{3}}, [](In x) { return x[0] * x[0] + 1e8; }},
      {"x^2 + 1e10", {{3}}, [](In x) { return x[0] * x[0] + 1e10; }},
      // kinks and ties
      {"relu at 0", {{3}}, [](In x) { return relu(x[0]) + x[0]; }, {0.5, 0, -0.5}},
      {"relu near 0", {{4}}, [](In x) { return relu(x[0]) + x[0]; }, {1e-2, -1e-3, 1e-5, -1e-7}},
      {"relu(x) alone near 0", {{4}}, [](In x) { return relu(x[0]); }, {1e-2, -1e-3, 1e-5, -1e-7}},
      {"|x| near 0", {{3}}, [](In x) { return absolute(x[0]); }, {1e-6, -1e-4, 2}},
      {"sqrt(x^2) near 0", {{3}}, [](In x) { return sqrt(x[0] * x[0]); }, {1e-6, -1e-4, 2}},
      {"x clipped to 0 .. 1",
       {{4}},
       [](In x) { return relu(x[0]) - relu(x[0] - 1.0); },
       {0.001, 0.999, 0.5, 1.5}},
      {"max of a tie", {{4}}, [](In x) { return max(x[0]); }, {1, 3, 3, 2}},
      {"max of a near tie", {{4}}, [](In x) { return max(x[0]); }, {1, 3, 3 + 1e-6, 2}},
      {"max along rows", {{3, 4}}, [](In x) { return max(x[0], {1}); }},
      {"max of pairs", {{6}}, [](In x) { return max_of_pairs(x[0]); }},
      {"max of pairs with a tie", {{4}}, [](In x) { return max_of_pairs(x[0]); }, {1, 1, 2, 0}},
      {"relu of a product", {{3, 4}, {4, 3}}, [](In x) { return relu(matmul(x[0], x[1])); }},
      {"x |x|", {{3}}, [](In x) { return x[0] * absolute(x[0]); }, {0.3, 1e-5, -1e-3}},
      {"a jump close by",
       {{3}},
       [](In x) {
         const Array sign =
             map(x[0].value(), [](Real a) { return a > Real(0) ? Real(1) : Real(-1); });
         return x[0] * Tensor(sign) + Tensor(sign);
       },
       {1e-4, -1e-2, 1}},
      // shapes, domains and exceptions that depend on the values
      {"the positive elements",
       {{3}},
       [](In x) { return slice(x[0] * x[0], 0, 0, count_positive(x[0])); },
       {0.001, 1, 2}},
      {"as often as positive",
       {{2}},
       [](In x) {
         return concat(
             std::vector<Tensor>(static_cast<std::size_t>(count_positive(x[0]) + 1), x[0]), 0);
       },
       {0.01, -0.01}},
      {"refuses negative x", {{2}}, [](In x) { return if_positive(x[0], sqrt(x[0])); }, {0.01, 1}},
      {"refuses nearly this x",
       {{2}},
       [](In x) { return if_positive(x[0], x[0] * x[0]); },
       {1e-9, 1}},
      {"log near 0", {{3}}, [](In x) { return log(x[0]); }, {1e-3, 1e-6, 1}},
      {"sqrt near 0", {{3}}, [](In x) { return sqrt(x[0]); }, {1e-3, 1e-6, 1}},
      {"1/x near 0", {{3}}, [](In x) { return 1.0 / x[0]; }, {1e-3, -1e-5, 1}},
      // one derivative far larger than another
      {"x (1e16, 1)",
       {{2}},
       [](In x) {
         return x[0] * Tensor(Array({2}, {1e16, 1}));
       }},
      {"exp at 35 and 0", {{2}}, [](In x) { return exp(x[0]); }, {35, 0}},
      {"sum of exp at 35 and 0", {{2}}, [](In x) { return sum(exp(x[0])); }, {35, 0}},
      {"softmax, saturated",
       {{3}},
       [](In x) { return softmax(x[0]); },
       {30, 0, -3},
       "rounding hides this derivative"},
      {"log_softmax, saturated", {{3}}, [](In x) { return log_softmax(x[0]); }, {34, 0, -3}},
      {"exp, whose neighbours overflow", {{1}}, [](In x) { return exp(x[0]); }, {698}},
      {"exp, one neighbour of two", {{2}}, [](In x) { return exp(x[0]); }, {1, 700}},
      // smooth over a small part of the shortest step
      {"log_softmax at 1e6", {{2}}, [](In x) { return log_softmax(x[0]); }, {1e6, 1e6 + 1}},
      {"log_softmax at 3e5", {{2}}, [](In x) { return log_softmax(x[0]); }, {3e5, 3e5 + 1}},
      {"gelu(x - 1e6)", {{2}}, [](In x) { return gelu(x[0] - 1e6); }, {1e6 + 1, 1e6 - 0.3}},
      {"log(1 + exp(5e4 x))", {{2}}, [](In x) { return log(1.0 + exp(x[0] * 5e4)); }, {0, 1e-5}},
      {"x^20", {{3}}, [](In x) { return pow(x[0], 20); }, {0.03, 1, 9}},
      // ops with rules of their own
      {"silu", {{6}}, [](In x) { return silu(x[0]); }},
      {"rotary", {{4, 2}}, [](In x) { return rotary(x[0]); }},
      {"running sum", {{5}}, [](In x) { return running_sum(x[0]); }},
      {"rms norm", {{5}}, [](In x) { return rms_norm(x[0]); }},
      {"gather", {{3, 2}}, [](In x) { return gather(x[0]); }},
  };
  for (const double c : {1e6, 1e8, 1e10, 1e14})
    rows.push_back(
        {"(x + c) - c, c = " + std::to_string(c), {{3}}, [c](In x) { return shifted(x[0], c); }});
  return rows;
}

std::vector<Row> wrong_functions() {
  std::vector<Row> rows;
  const auto add = [&](std::string name, std::string cause, std::vector<Shape> shapes,
                       std::function<Tensor(In)> f, std::vector<double> values = {}) {
    rows.push_back(
        {std::move(name), std::move(shapes), std::move(f), std::move(values), std::move(cause)});
  };
  // factors
  for (const auto& times :
       std::vector<std::pair<double, std::string>>{{2, "twice"},
                                                   {0.5, "one of two"},
                                                   {-1, "sign"},
                                                   {std::sqrt(8.0), "1/sqrt(8)"},
                                                   {1.001, "constant factor"},
                                                   {1 + 1e-5, "constant factor"},
                                                   {1 + 1e-10, ""},
                                                   {3, "factor of 3"},
                                                   {0, "zero in every element"}})
    add("times " + std::to_string(times.first), times.second, {{2, 3}},
        [by = times.first](In x) { return exp(scaled(x[0], by)); });
  add("one element doubled", "", {{2, 3}},
      [](In x) { return spoiled(x[0], [](double, Dim i) { return i == 4 ? 2 : 1; }); });
  add("one element doubled behind a shift", "", {{4}}, [](In x) {
    return shifted(spoiled(x[0], [](double, Dim i) { return i == 2 ? 2 : 1; }), 1e6);
  });
  add("2 % too much behind a shift by 1e8", "constant factor", {{4}},
      [](In x) { return shifted(scaled(x[0], 1.02), 1e8); });
  add("softmax(x + 1e7) times 1.01", "constant factor", {{4}},
      [](In x) { return softmax(scaled(x[0], 1.01) + number(1e7)); });
  add("layer_norm(x + 1e6), one sign", "", {{2, 4}}, [](In x) {
    return norm(spoiled(x[0], [](double, Dim i) { return i == 0 ? -1 : 1; }) + number(1e6));
  });
  add("variance about 1e4, halved", "one of two", {{6}},
      [](In x) { return variance(scaled(x[0], 0.5) + number(1e4)); });
  add("random errors", "", {{2, 4}}, [](In x) {
    return spoiled(x[0],
                   [](double, Dim i) { return 1 + std::sin(3.0 * static_cast<double>(i + 1)); });
  });
  // small beside others
  add("exp at 35 and 0, slope -7", "", {{2}},
      [](In x) { return exp(spoiled(x[0], [](double a, Dim) { return a == 0 ? -7 : 1; })); },
      {35, 0});
  add("x (1e16, 1), the second doubled", "", {{2}}, [](In x) {
    return spoiled(x[0], [](double, Dim i) { return i == 1 ? 2 : 1; }) *
           Tensor(Array({2}, {1e16, 1}));
  });
  add("sum of exp at 35 and 0, the second missing", "not proved", {{2}},
      [](In x) { return sum(exp(spoiled(x[0], [](double a, Dim) { return a == 0 ? 0 : 1; }))); },
      {35, 0});
  add("x^20 at 0.03 and 9, 1 % too much", "", {{2}},
      [](In x) { return pow(spoiled(x[0], [](double a, Dim) { return a < 1 ? 1.01 : 1; }), 20); },
      {0.03, 9});
  // kinks
  for (const double slope : {0.25, 0.5, 1.0})
    add("relu at 0, slope " + std::to_string(slope), "", {{3}},
        [slope](In x) {
          const Array X = x[0].value();
          return x[0] + ruled(x[0], relu(x[0]).value(), [=](const Array& dy, Dim i) {
                   return dy[i] * (X[i] == Real(0)  ? Real(slope)
                                   : X[i] > Real(0) ? Real(1)
                                                    : Real(0));
                 });
        },
        {0.5, 0, -0.5});
  add("relu near 0, slope 1.5", "positions 0 to 1 of 3", {{3}},
      [](In x) { return relu(scaled(x[0], 1.5)) + x[0]; }, {1e-3, 1e-5, -1e-4});
  add("relu passes negative x", "position 0 along axis 0 is right", {{3}},
      [](In x) {
        return ruled(x[0], relu(x[0]).value(), [](const Array& dy, Dim i) { return dy[i]; });
      },
      {1e-3, -1e-3, -1e-5});
  add("clipped, and the rule is not", "positions 2 to 3 of 4", {{4}},
      [](In x) {
        return ruled(x[0], (relu(x[0]) - relu(x[0] - 1.0)).value(),
                     [](const Array& dy, Dim i) { return dy[i]; });
      },
      {0.2, 0.7, 1.5, -1});
  add("max of pairs: mean", "", {{6}}, [](In x) { return max_of_pairs(x[0], 'm'); });
  add("max of pairs: the other", "position", {{6}}, [](In x) { return max_of_pairs(x[0], 'o'); });
  // a shape that depends on the values
  add("the positive elements, doubled", "twice", {{3}},
      [](In x) {
        const Tensor y = scaled(x[0], 2);
        return slice(y * y, 0, 0, count_positive(x[0]));
      },
      {0.001, 1, 2});
  add("refuses negative x, halved", "one of two", {{2}},
      [](In x) { return if_positive(x[0], sqrt(scaled(x[0], 0.5))); }, {0.01, 1});
  // what the rule does with dy
  for (const double most : {1.0, 100.0, 500.0}) {
    add("min(dy, " + std::to_string(most) + ")", "linear in dy", {{1}},
        [=](In x) { return bent(x[0], [=](Real d) { return d > Real(most) ? Real(most) : d; }); });
    add("max(dy, -" + std::to_string(most) + ")", "linear in dy", {{1}}, [=](In x) {
      return bent(x[0], [=](Real d) { return d < Real(-most) ? Real(-most) : d; });
    });
  }
  add("dy + 1", "zero cotangent", {{4}},
      [](In x) { return bent(x[0], [](Real d) { return d + Real(1); }); });
  add("|dy|", "linear in dy", {{4}},
      [](In x) { return bent(x[0], [](Real d) { return d < Real(0) ? -d : d; }); });
  add("dy ignored", "zero cotangent", {{4}},
      [](In x) { return bent(x[0], [](Real) { return Real(1); }); });
  // the right numbers at other positions
  add("reversed", "reversed", {{5}}, [](In x) { return moved(x[0], [](Dim i) { return 4 - i; }); });
  add("reversed rows", "reversed along axis 0", {{3, 4}},
      [](In x) { return moved(x[0], [](Dim i) { return (2 - i / 4) * 4 + i % 4; }); });
  add("shifted by one", "shifted", {{5}},
      [](In x) { return moved(x[0], [](Dim i) { return i == 4 ? -1 : i + 1; }); });
  add("permuted", "permuted", {{6}},
      [](In x) { return moved(x[0], [](Dim i) { return i * 5 % 6; }); });
  add("transposed", "transposed", {{3, 3}},
      [](In x) { return moved(x[0], [](Dim i) { return i % 3 * 3 + i / 3; }); });
  // wrong rules of ops
  add("silu without the product rule", "only dy·g(x)", {{12}},
      [](In x) { return silu(x[0], 1, 0); });
  add("silu without its first summand", "multiple of dy·y/x", {{12}},
      [](In x) { return silu(x[0], 0, 1); });
  add("silu, a sign", "", {{12}}, [](In x) { return silu(x[0], 1, -1); });
  add("rotary, wrong sign", "Jacobian", {{4, 2}}, [](In x) { return rotary(x[0], -1); });
  add("rotary without the last row", "position 3 of 4", {{4, 2}},
      [](In x) { return rotary(x[0], 1, 3); });
  add("running sum, forward", "Jacobian", {{5}}, [](In x) { return running_sum(x[0], 'f'); });
  add("running sum, shifted", "shifted", {{5}}, [](In x) { return running_sum(x[0], 's'); });
  add("rms norm without the projection", "only dy·g(x)", {{5}},
      [](In x) { return rms_norm(x[0], 'p'); });
  add("rms norm with C - 1", "multiple of the input", {{5}},
      [](In x) { return rms_norm(x[0], 'c'); });
  add("layer norm without the mean", "one number", {{2, 5}},
      [](In x) { return norm_without(x[0], 'm'); });
  add("layer norm without the projection", "multiple of the output", {{2, 5}},
      [](In x) { return norm_without(x[0], 'p'); });
  add("layer norm without both", "", {{2, 5}}, [](In x) { return norm_without(x[0], 'b'); });
  add("softmax without the sum", "multiple of the output", {{5}},
      [](In x) { return soft(x[0], 0); });
  add("softmax with a sum without y", "multiple of the output", {{5}},
      [](In x) { return soft(x[0], 1, true); });
  add("softmax, sign of the sum", "multiple of the output", {{5}},
      [](In x) { return soft(x[0], -1); });
  add("gather overwrites", "overwrites", {{3, 2}}, [](In x) { return gather(x[0], 'o'); });
  add("gather skips row 0", "position 0 of 3", {{3, 2}}, [](In x) { return gather(x[0], 's'); });
  add("product, B for its transpose", "uses input 1", {{3, 3}, {3, 3}},
      [](In x) { return product_of(x[0], x[1], "A: B"); });
  add("product, A for its transpose", "uses input 0", {{3, 3}, {3, 3}},
      [](In x) { return product_of(x[0], x[1], "B: A"); });
  add("product, dA transposed", "transposed", {{3, 3}, {3, 3}},
      [](In x) { return product_of(x[0], x[1], "A: transposed"); });
  add("bias of the first row", "first position", {{4, 3}, {3}},
      [](In x) { return add_bias(x, 0); });
  add("bias of the last row", "last position", {{4, 3}, {3}}, [](In x) { return add_bias(x, 3); });
  add("mean for sum of the rows", "factor of 4", {{4, 3}, {3}},
      [](In x) { return add_bias(x, -1, 0.25); });
  add("the path around is cut", "multiple of dy,", {{5}},
      [](In x) { return tanh(x[0]) + x[0].detach(); });
  add("one factor is cut", "multiple of dy·y/x", {{5}},
      [](In x) { return exp(x[0]) * x[0].detach(); });
  add("computed with double", "oracles disagree", {{4}},
      [](In x) { return x[0] * value_of(sum(x[0] * x[0]).value().item()); });
  return rows;
}

// Checks the rows, those with drawn inputs with eight seeds, and calls f with each report.
void each_check(const std::vector<Row>& rows,
                const std::function<void(const Row&, const GradcheckReport&)>& f) {
  for (const Row& row : rows)
    for (std::uint64_t seed = 1; seed <= (row.values.empty() ? 8u : 1u); ++seed) {
      GradcheckOptions options;
      options.seed = seed;
      const std::vector<Array> inputs = inputs_of(row, seed);
      const GradcheckReport report = gradcheck(row.f, inputs, options);
      INFO(row.name << ", seed " << seed << ": " << to_string(report));
      Dim elements = 0;
      for (const Array& x : inputs) elements += x.size();
      CHECK(report.elements == elements);
      CHECK(report.ok == report.problem.empty());
      CHECK((report.problem != "the gradient is wrong" || report.wrong_by_dual ||
             report.wrong_by_differences));
      f(row, report);
    }
}

}  // namespace

TEST_CASE("right functions that are hard to check are not accused") {
  const std::vector<Row> rows = right_functions();
  REQUIRE(rows.size() == 66);  // as README.md says
  each_check(rows, [](const Row& row, const GradcheckReport& report) {
    CHECK(report.ok == row.expected.empty());
    CHECK_THAT(report.problem, StartsWith(row.expected));
  });
}

TEST_CASE("wrong functions do not pass: the cause is named, or the worst elements are shown") {
  const std::vector<Row> rows = wrong_functions();
  REQUIRE(rows.size() == 70);  // as README.md says
  each_check(rows, [](const Row& row, const GradcheckReport& report) {
    // A sum of 1e15 and 1 has no digit to spare for the 1.
    CHECK(report.ok == (row.expected == "not proved"));
    CHECK(report.worst.empty() == report.ok);
    const std::string& named = report.ok                                   ? report.note
                               : report.problem == "the gradient is wrong" ? report.likely_cause
                                                                           : report.problem;
    CHECK(named.empty() == row.expected.empty());
    CHECK_THAT(named, ContainsSubstring(row.expected));
  });
}
