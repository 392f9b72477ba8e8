// 66 right functions that are hard to check, which are not accused, and 70 wrong ones, which do not
// pass, each with what its report names; and what resembles the wrong ones.
#include <cmath>
#include <stdexcept>

#include "tests/engine/gradcheck/rules.h"
#include "tests/support/catch.h"

using namespace tests;

namespace {

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

Tensor ones(Dim n) { return Tensor(Array::ones({n})); }
Tensor zeros(Dim n) { return Tensor(Array::zeros({n})); }
Tensor shifted(const Tensor& x, double c) { return (x + c) - c; }
Tensor absolute(const Tensor& x) { return relu(x) + relu(-x); }
Array total(const Array& x) { return sum(Tensor(x)).value(); }
Tensor clipped(const Tensor& x) { return relu(x) - relu(x - 1.0); }
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
Tensor own_rms_norm(const Tensor& x, char kind) {
  const Array X = x.value(), r = pow(mean(Tensor(X * X)), -0.5).value();
  const double n = static_cast<double>(X.size() - (kind == 'c' ? 1 : 0));
  return record("rms_norm", X * r, wrt(x, [=](const Array& dy) {
                  return r * (kind == 'p' ? dy : dy - X * r * r * total(dy * X) * Real(1 / n));
                }));
}

/// softmax of a vector; dx = y·(dy − Σ_j weight·dy_j·y_j), without y in the sum if `bare`
Tensor soft(const Tensor& x, double weight, bool bare) {
  const Array y = softmax(x).value();
  return record("soft", y, wrt(x, [=](const Array& dy) {
                  return y * (dy - total(bare ? dy : dy * y) * Real(weight));
                }));
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

/// Layer norm of each row, whose rule lacks the mean of dy (m), the projection (p) or both (b).
Tensor norm_without(const Tensor& x, char what) {
  const auto mean_of = [](const Array& a) { return mean(Tensor(a), {-1}, true).value(); };
  const Array X = x.value(), Y = norm(x).value(), centred = X - mean_of(X);
  const Array r = pow(Tensor(mean_of(centred * centred)) + 1e-5, -0.5).value();
  return record(
      "norm", Y, wrt(x, [=](const Array& dy) {
        return r * (what == 'p' ? dy - mean_of(dy) : what == 'm' ? dy - Y * mean_of(dy * Y) : dy);
      }));
}

/// y, with dx = dy.
Tensor passing(const Tensor& x, const Tensor& y) {
  return record("passing", y.value(), wrt(x, [](const Array& dy) { return dy; }));
}

Dim count_positive(const Tensor& x) {
  Dim count = 0;
  for (Dim i = 0; i < x.size(); ++i) count += value_of(x.value()[i]) > 0 ? 1 : 0;
  return count;
}

Tensor squares_of_positive(const Tensor& x) { return slice(x * x, 0, 0, count_positive(x)); }
Tensor repeated(const Tensor& x) {
  return concat(std::vector<Tensor>(static_cast<std::size_t>(count_positive(x) + 1), x), 0);
}
Tensor jumping(const Tensor& x) {
  const Array sign = map(x.value(), [](Real a) { return a > Real(0) ? Real(1) : Real(-1); });
  return x * Tensor(sign) + Tensor(sign);
}

Tensor if_positive(const Tensor& x, const Tensor& y) {
  if (count_positive(x) < x.size()) throw std::invalid_argument("x must be positive");
  return y;
}

std::vector<Row> right_functions() {
  const Tensor unequal(Array({2}, {1e16, 1}));
  std::vector<Row> rows = {
      // large numbers that cancel on the way
      {"softmax(x + 1e7)", {{4}}, [](In x) { return softmax(x[0] + 1e7); }},
      {"log_softmax(x + 1e8)", {{4}}, [](In x) { return log_softmax(x[0] + 1e8); }},
      {"layer_norm(x + 1e6)", {{2, 5}}, [](In x) { return norm(x[0] + 1e6); }},
      {"layer_norm(x + 1e7)", {{2, 5}}, [](In x) { return norm(x[0] + 1e7); }},
      {"exp of a shifted x", {{3}}, [](In x) { return exp(shifted(x[0], 1e6)); }},
      {"sigmoid of a shifted x", {{3}}, [](In x) { return sigmoid(shifted(x[0], 1e9)); }},
      {"two shifts", {{3}, {3}}, [](In x) { return shifted(x[0], 1e8) * shifted(x[1], 1e5); }},
      {"shift in a product",
       {{2, 3}, {3, 2}},
       [](In x) { return matmul(shifted(x[0], 1e7), x[1]); }},
      {"variance", {{6}}, of_one(variance)},
      {"variance about 1e2", {{6}}, [](In x) { return variance(x[0] + 1e2); }},
      {"variance about 1e4", {{6}}, [](In x) { return variance(x[0] + 1e4); }},
      {"(x - 1e6)^2 less its constants",
       {{3}},
       [](In x) { return (x[0] - 1e6) * (x[0] - 1e6) - 1e12 + x[0] * 2e6; }},
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
      {"relu(x) alone near 0", {{4}}, of_one(relu), {1e-2, -1e-3, 1e-5, -1e-7}},
      {"|x| near 0", {{3}}, of_one(absolute), {1e-6, -1e-4, 2}},
      {"sqrt(x^2) near 0", {{3}}, [](In x) { return sqrt(x[0] * x[0]); }, {1e-6, -1e-4, 2}},
      {"x clipped to 0 .. 1", {{4}}, of_one(clipped), {0.001, 0.999, 0.5, 1.5}},
      {"max of a tie", {{4}}, [](In x) { return max(x[0]); }, {1, 3, 3, 2}},
      {"max of a near tie", {{4}}, [](In x) { return max(x[0]); }, {1, 3, 3 + 1e-6, 2}},
      {"max along rows", {{3, 4}}, [](In x) { return max(x[0], {1}); }},
      {"max of pairs", {{6}}, of_one(max_of_pairs, 'r')},
      {"max of pairs with a tie", {{4}}, of_one(max_of_pairs, 'r'), {1, 1, 2, 0}},
      {"relu of a product", {{3, 4}, {4, 3}}, [](In x) { return relu(matmul(x[0], x[1])); }},
      {"x |x|", {{3}}, [](In x) { return x[0] * absolute(x[0]); }, {0.3, 1e-5, -1e-3}},
      {"a jump close by", {{3}}, of_one(jumping), {1e-4, -1e-2, 1}},
      // shapes, domains and exceptions that depend on the values
      {"the positive elements", {{3}}, of_one(squares_of_positive), {0.001, 1, 2}},
      {"as often as positive", {{2}}, of_one(repeated), {0.01, -0.01}},
      {"refuses negative x", {{2}}, [](In x) { return if_positive(x[0], sqrt(x[0])); }, {0.01, 1}},
      {"refuses nearly this x",
       {{2}},
       [](In x) { return if_positive(x[0], x[0] * x[0]); },
       {1e-9, 1}},
      {"log near 0", {{3}}, of_one(log), {1e-3, 1e-6, 1}},
      {"sqrt near 0", {{3}}, of_one(sqrt), {1e-3, 1e-6, 1}},
      {"1/x near 0", {{3}}, [](In x) { return 1.0 / x[0]; }, {1e-3, -1e-5, 1}},
      // one derivative far larger than another
      {"x (1e16, 1)", {{2}}, [=](In x) { return x[0] * unequal; }},
      {"exp at 35 and 0", {{2}}, of_one(exp), {35, 0}},
      {"sum of exp at 35 and 0", {{2}}, [](In x) { return sum(exp(x[0])); }, {35, 0}},
      {"softmax, saturated",
       {{3}},
       [](In x) { return softmax(x[0]); },
       {30, 0, -3},
       "rounding hides this derivative"},
      {"log_softmax, saturated", {{3}}, of_one(log_softmax), {34, 0, -3}},
      {"exp, whose neighbours overflow", {{1}}, of_one(exp), {698}},
      {"exp, one neighbour of two", {{2}}, of_one(exp), {1, 700}},
      // smooth over a small part of the shortest step
      {"log_softmax at 1e6", {{2}}, of_one(log_softmax), {1e6, 1e6 + 1}},
      {"log_softmax at 3e5", {{2}}, of_one(log_softmax), {3e5, 3e5 + 1}},
      {"gelu(x - 1e6)", {{2}}, [](In x) { return gelu(x[0] - 1e6); }, {1e6 + 1, 1e6 - 0.3}},
      {"log(1 + exp(5e4 x))", {{2}}, [](In x) { return log(1.0 + exp(x[0] * 5e4)); }, {0, 1e-5}},
      {"x^20", {{3}}, [](In x) { return pow(x[0], 20); }, {0.03, 1, 9}},
      // ops with rules of their own
      {"silu", {{6}}, of_one(own_silu, 1, 1)},
      {"rotary", {{4, 2}}, of_one(rotary, 1, 1000)},
      {"running sum", {{5}}, of_one(running_sum, 'r')},
      {"rms norm", {{5}}, of_one(own_rms_norm, 'r')},
      {"gather", {{3, 2}}, of_one(gather, 'r')},
  };
  for (const double c : {1e6, 1e8, 1e10, 1e14})
    rows.push_back(
        {"(x + c) - c, c = " + std::to_string(c), {{3}}, [c](In x) { return shifted(x[0], c); }});
  return rows;
}

std::vector<Row> wrong_functions() {
  const Tensor unequal(Array({2}, {1e16, 1}));
  std::vector<Row> rows;
  const auto add = [&](std::string name, std::string cause, std::vector<Shape> shapes,
                       std::function<Tensor(In)> f, std::vector<double> values = {}) {
    rows.push_back(
        {std::move(name), std::move(shapes), std::move(f), std::move(values), std::move(cause)});
  };
  // factors
  for (const auto& times :
       {std::pair(2.0, "twice"), std::pair(0.5, "one of two"), std::pair(-1.0, "sign"),
        std::pair(std::sqrt(8.0), "1/sqrt(8)"), std::pair(1.001, "constant factor"),
        std::pair(1 + 1e-5, "constant factor"), std::pair(1 + 1e-10, ""),
        std::pair(3.0, "factor of 3"), std::pair(0.0, "zero in every element")})
    add("times " + std::to_string(times.first), times.second, {{2, 3}},
        [by = times.first](In x) { return exp(scaled(x[0], by)); });
  add("one element doubled", "", {{2, 3}}, of_one(spoiled_at, 4, 2));
  add("one element doubled behind a shift", "", {{4}},
      [](In x) { return shifted(spoiled_at(x[0], 2, 2), 1e6); });
  add("2 % too much behind a shift by 1e8", "constant factor", {{4}},
      [](In x) { return shifted(scaled(x[0], 1.02), 1e8); });
  add("softmax(x + 1e7) times 1.01", "constant factor", {{4}},
      [](In x) { return softmax(scaled(x[0], 1.01) + 1e7); });
  add("layer_norm(x + 1e6), one sign", "", {{2, 4}},
      [](In x) { return norm(spoiled_at(x[0], 0, -1) + 1e6); });
  add("variance about 1e4, halved", "one of two", {{6}},
      [](In x) { return variance(scaled(x[0], 0.5) + 1e4); });
  add("random errors", "", {{2, 4}}, [](In x) {
    return spoiled(x[0],
                   [](double, Dim i) { return 1 + std::sin(3.0 * static_cast<double>(i + 1)); });
  });
  // small beside others
  add("exp at 35 and 0, slope -7", "", {{2}}, [](In x) { return exp(spoiled_at(x[0], 1, -7)); },
      {35, 0});
  add("x (1e16, 1), the second doubled", "", {{2}},
      [=](In x) { return spoiled_at(x[0], 1, 2) * unequal; });
  add("sum of exp at 35 and 0, the second missing", "not proved", {{2}},
      [](In x) { return sum(exp(spoiled_at(x[0], 1, 0))); }, {35, 0});
  add("x^20 at 0.03 and 9, 1 % too much", "", {{2}},
      [](In x) { return pow(spoiled_at(x[0], 0, 1.01), 20); }, {0.03, 9});
  // kinks
  for (const double slope : {0.25, 0.5, 1.0})
    add("relu at 0, slope " + std::to_string(slope), "", {{3}},
        [=](In x) { return x[0] + relu_with(x[0], slope); }, {0.5, 0, -0.5});
  add("relu near 0, slope 1.5", "positions 0 to 1 of 3", {{3}},
      [](In x) { return relu(scaled(x[0], 1.5)) + x[0]; }, {1e-3, 1e-5, -1e-4});
  add("relu passes negative x", "position 0 along axis 0 is right", {{3}},
      [](In x) { return passing(x[0], relu(x[0])); }, {1e-3, -1e-3, -1e-5});
  add("clipped, and the rule is not", "positions 2 to 3 of 4", {{4}},
      [](In x) { return passing(x[0], clipped(x[0])); }, {0.2, 0.7, 1.5, -1});
  add("max of pairs: mean", "", {{6}}, of_one(max_of_pairs, 'm'));
  add("max of pairs: the other", "position", {{6}}, of_one(max_of_pairs, 'o'));
  // a shape that depends on the values
  add("the positive elements, doubled", "twice", {{3}},
      [](In x) { return squares_of_positive(scaled(x[0], 2)); }, {0.001, 1, 2});
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
  add("silu without the product rule", "only dy·g(x)", {{12}}, of_one(own_silu, 1, 0));
  add("silu without its first summand", "multiple of dy·y/x", {{12}}, of_one(own_silu, 0, 1));
  add("silu, a sign", "", {{12}}, of_one(own_silu, 1, -1));
  add("rotary, wrong sign", "Jacobian", {{4, 2}}, of_one(rotary, -1, 1000));
  add("rotary without the last row", "position 3 of 4", {{4, 2}}, of_one(rotary, 1, 3));
  add("running sum, forward", "Jacobian", {{5}}, of_one(running_sum, 'f'));
  add("running sum, shifted", "shifted", {{5}}, of_one(running_sum, 's'));
  add("rms norm without the projection", "only dy·g(x)", {{5}}, of_one(own_rms_norm, 'p'));
  add("rms norm with C - 1", "multiple of the input", {{5}}, of_one(own_rms_norm, 'c'));
  add("layer norm without the mean", "one number", {{2, 5}}, of_one(norm_without, 'm'));
  add("layer norm without the projection", "multiple of the output", {{2, 5}},
      of_one(norm_without, 'p'));
  add("layer norm without both", "", {{2, 5}}, of_one(norm_without, 'b'));
  add("softmax without the sum", "multiple of the output", {{5}}, of_one(soft, 0, false));
  add("softmax with a sum without y", "multiple of the output", {{5}}, of_one(soft, 1, true));
  add("softmax, sign of the sum", "multiple of the output", {{5}}, of_one(soft, -1, false));
  add("gather overwrites", "overwrites", {{3, 2}}, of_one(gather, 'o'));
  add("gather skips row 0", "position 0 of 3", {{3, 2}}, of_one(gather, 's'));
  add("product, B for its transpose", "uses input 1", {{3, 3}, {3, 3}}, of_two(product_of, "A: B"));
  add("product, A for its transpose", "uses input 0", {{3, 3}, {3, 3}}, of_two(product_of, "B: A"));
  add("product, dA transposed", "transposed", {{3, 3}, {3, 3}},
      of_two(product_of, "A: transposed"));
  add("bias of the first row", "first position", {{4, 3}, {3}}, of_two(add_bias, 0, 1));
  add("bias of the last row", "last position", {{4, 3}, {3}}, of_two(add_bias, 3, 1));
  add("mean for sum of the rows", "factor of 4", {{4, 3}, {3}}, of_two(add_bias, -1, 0.25));
  add("the path around is cut", "multiple of dy,", {{5}},
      [](In x) { return tanh(x[0]) + x[0].detach(); });
  add("one factor is cut", "multiple of dy·y/x", {{5}},
      [](In x) { return exp(x[0]) * x[0].detach(); });
  add("computed with double", "oracles disagree, and dual numbers confirm backward()", {{4}},
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

TEST_CASE("what resembles a known mistake has another cause, or none") {
  const auto cause = [](const OpFunction& f, const std::vector<Shape>& shapes) {
    std::vector<Array> inputs;
    for (const Shape& shape : shapes) inputs.push_back(uniform(shape, 1 + inputs.size()));
    const GradcheckReport report = gradcheck(f, inputs);
    CHECK_FALSE(report.ok);
    return report.likely_cause.empty() ? report.pattern : report.likely_cause;
  };
  const std::vector<Shape> two{{3, 3}, {3, 3}}, three{{3, 3}, {3, 3}, {3, 3}}, bias{{2, 4, 3}, {3}};
  const auto product = of_two(product_of, "A: B");
  const auto within = [=](In x) { return product({x[0] * 1.0, x[1]}) * x[2] + x[0] * 2.0; };
  CHECK_THAT(cause(within, three), StartsWith("the rule uses input 1 where its transpose belongs"));
  // The transpose also changes the slope of tanh.
  CHECK(cause([=](In x) { return tanh(product(x)); }, two) == "9 of 9 elements are wrong");
  const Array b = uniform({3, 3}, 2);  // its own transpose
  CHECK(gradcheck(product, {uniform({3, 3}, 1), b + transpose(Tensor(b)).value()}).ok);

  CHECK(cause(of_two(add_bias, 0, 1), bias) ==
        "only the first position along axes 0 to 1 of the output contributes: the sum over a "
        "broadcast axis is missing");
  CHECK(cause(of_two(add_bias, 7, 1), bias) ==
        "only the last position along axes 0 to 1 of the output contributes: each position "
        "overwrites the one before instead of adding");
  for (const auto& [row, factor] : {std::pair{3, 1}, {0, 2}})  // one in the middle; the first twice
    CHECK(cause(of_two(add_bias, row, factor), bias) == "3 of 3 elements are wrong");
  // Elementwise, the other rows have no gradient: nothing is broadcast here.
  CHECK_THAT(cause([](In x) { return spoiled(x[0], [](double, Dim i) { return i < 3 ? 1 : 0; }); },
                   {{4, 3}}),
             StartsWith("position 0 along axis 0 is right and all later ones are wrong"));
}
