// Every function with a tail, value and slope, against an evaluation in long double over all numbers
// that a Real can be: the largest error in units of the last place. Run with -s, the test prints the
// table.
#include <cmath>
#include <cstdio>

#include "tests/engine/ops/curves.h"

using namespace tests;

namespace {

// Every power of two with eight numbers between it and the next, of both signs, and evenly spaced
// numbers where the tails are.
Array all_sizes(bool positive) {
  using limits = std::numeric_limits<Real>;
  std::vector<double> x;
  for (int e = limits::min_exponent - limits::digits; e < limits::max_exponent; ++e)
    for (int part = 0; part < 8; ++part) x.push_back(std::ldexp(1 + part / 8.0 + 1 / 64.0, e));
  const double tail = is_float ? 110 : 760;
  constexpr int even = 60'000;
  for (int i = 1; i < even; ++i) x.push_back(tail * i / even);
  for (int i = 1; i < even; ++i) x.push_back(15.0 * i / even);
  if (!positive)
    for (std::size_t i = 0, count = x.size(); i < count; ++i) x.push_back(-x[i]);
  return Array({static_cast<Dim>(x.size())}, x);
}

// The table of errors; each row is checked as it is added.
class Table {
 public:
  void add(const std::string& name, const char* what, const Worst& worst, double bound,
           const char* scale) {
    char text[160];
    std::snprintf(text, sizeof text, "%-13s %-7s %7.2f at %-9.3g %s", name.c_str(), what,
                  worst.units, worst.at, scale);
    INFO(text);
    CHECK(worst.units <= bound);
    text_ += std::string(text) + "\n";
  }
  const std::string& text() const { return text_; }

 private:
  std::string text_ = "\nfunction      of      largest error, in units in the last place\n";
};

// Functions of a row x, with dy: exact values and gradients, and what their errors are measured by.
struct RowResult {
  std::vector<Exact> y, dx, y_scale, dx_scale;
};
struct RowFunction {
  const char* name;
  Function f;
  RowResult (*exact)(const std::vector<Exact>& x, const std::vector<Exact>& dy);
  const char* scale;  // in words
  double y_units, slope_units;
};

// log Σ exp(x) − top. The largest element is left out of the sum, so nothing of a small rest is lost.
Exact log_total(const std::vector<Exact>& x, std::size_t top) {
  Exact rest = 0;
  for (std::size_t j = 0; j < x.size(); ++j) rest += j == top ? 0 : std::exp(x[j] - x[top]);
  return std::log1p(rest);
}
std::size_t top_of(const std::vector<Exact>& x) {
  return static_cast<std::size_t>(std::max_element(x.begin(), x.end()) - x.begin());
}
Exact largest_of(const std::vector<Exact>& x) {
  Exact size = 0;
  for (const Exact v : x) size = std::max(size, std::abs(v));
  return size;
}

RowResult exact_log_softmax(const std::vector<Exact>& x, const std::vector<Exact>& dy) {
  const std::size_t top = top_of(x);
  const Exact rest = log_total(x, top);
  Exact total = 0;
  for (const Exact d : dy) total += d;
  RowResult r;
  for (std::size_t i = 0; i < x.size(); ++i) {
    r.y.push_back(x[i] - x[top] - rest);
    r.y_scale.push_back(std::max(1.0L, x[top] - x[i]));
    r.dx.push_back(dy[i] - std::exp(r.y[i]) * total);
    r.dx_scale.push_back(largest_of(dy));
  }
  return r;
}

RowResult exact_softmax(const std::vector<Exact>& x, const std::vector<Exact>& dy) {
  const std::size_t top = top_of(x);
  const Exact rest = log_total(x, top);
  RowResult r;
  Exact mean = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    r.y.push_back(std::exp(x[i] - x[top] - rest));
    r.y_scale.push_back(r.y[i] * std::max(1.0L, x[top] - x[i]));
    mean += r.y[i] * dy[i];
  }
  for (std::size_t i = 0; i < x.size(); ++i) {
    r.dx.push_back(r.y[i] * (dy[i] - mean));
    r.dx_scale.push_back(r.y_scale[i] * largest_of(dy));
  }
  return r;
}

// Target 2, one row.
RowResult exact_cross_entropy(const std::vector<Exact>& x, const std::vector<Exact>& dy) {
  const std::size_t top = top_of(x);
  const Exact rest = log_total(x, top);
  RowResult r;
  r.y = {x[top] - x[2] + rest};
  r.y_scale = {std::max(1.0L, r.y[0])};
  Exact others = 0;
  for (std::size_t j = 0; j < x.size(); ++j) {
    const Exact p = std::exp(x[j] - x[top] - rest);
    r.dx.push_back(p * dy[0]);
    others += j == 2 ? 0 : p;
  }
  r.dx[2] = -others * dy[0];
  r.dx_scale.assign(x.size(), std::abs(dy[0]));
  return r;
}

// With the row's neighbours, x_1 x_2 … x_0.
RowResult exact_cosine(const std::vector<Exact>& x, const std::vector<Exact>& dy) {
  const std::size_t n = x.size();
  Exact dot = 0, square = 0;
  for (std::size_t i = 0; i < n; ++i) {
    dot += x[i] * x[(i + 1) % n];
    square += x[i] * x[i];
  }
  RowResult r;
  r.y = {dot / square};
  r.y_scale = {1};
  for (std::size_t i = 0; i < n; ++i) {
    const Exact neighbours = x[(i + 1) % n] + x[(i + n - 1) % n];
    r.dx.push_back(dy[0] * (neighbours - 2 * r.y[0] * x[i]) / square);
    r.dx_scale.push_back(std::abs(dy[0]) / std::sqrt(square));
  }
  return r;
}

Tensor cosine_with_neighbours(const Tensors& x) {
  return cosine_similarity(x[0], concat({slice(x[0], 0, 1, 9), slice(x[0], 0, 0, 1)}, 0));
}

const std::vector<RowFunction> row_functions = {
    {"softmax", [](const Tensors& x) { return softmax(x[0]); }, exact_softmax, "of y|x - top|", 3,
     6},
    {"log_softmax", [](const Tensors& x) { return log_softmax(x[0]); }, exact_log_softmax,
     "of max(1, |x - top|), of max |dy|", 3, 6},
    {"cross_entropy", [](const Tensors& x) { return cross_entropy(x[0], Indices({}, {2})); },
     exact_cross_entropy, "of max(1, y), of |dy|", 3, 6},
    {"cosine", cosine_with_neighbours, exact_cosine, "of 1, of |dy|/|x|", 3, 6},
};

}  // namespace

TEST_CASE("every function of one number, value and slope, over all numbers") {
  Table table;
  for (const Curve& curve : curves) {
    const Errors worst = errors_of(curve, all_sizes(curve.low > 0));
    const char* const y = curve.y_scale != nullptr ? "of y|u|" : "";
    const char* const slope = curve.y_scale != nullptr       ? "of the larger term * |u|"
                              : curve.slope_scale != nullptr ? "of the larger term"
                                                             : "";
    table.add(curve.name, "value", worst.y, curve.y_units, y);
    table.add(curve.name, "slope", worst.slope, curve.slope_units, slope);
    if (!is_float) table.add(curve.name, "tangent", worst.tangent, curve.slope_units, slope);
    table.add(curve.name, "tiny", worst.tiny, curve.tiny_units, "");
  }
  SUCCEED(table.text());
}

TEST_CASE("every function of a row, value and slope, for rows of all sizes") {
  constexpr Dim n = 9;
  Table table;
  for (const RowFunction& function : row_functions) {
    const bool scales = function.exact == exact_cosine;
    Worst worst_y, worst_dx;
    for (const double size : {1e-30, 1e-10, 0.01, 1.0, 10.0, 40.0, 1e4, 1e30}) {
      if (!scales && function.exact == exact_softmax && size > 10) continue;  // y is 0 in the tail
      for (std::uint64_t seed = 1; seed <= 200; ++seed) {
        Rng rng(seed);
        const Array x = random_normal({n}, 0, size, rng);
        const Array dy = uniform(value(function.f, {x}).shape(), seed);
        const Pass found = pass(function.f, {x}, dy);
        const auto exact = [](const Array& a) {
          std::vector<Exact> values;
          for (const double v : to_vector(a)) values.push_back(v);
          return values;
        };
        const RowResult right = function.exact(exact(x), exact(dy));
        for (std::size_t i = 0; i < right.y.size(); ++i)
          worst_y.count(value_of(found.y[static_cast<Dim>(i)]), right.y[i], right.y_scale[i], size);
        for (std::size_t i = 0; i < right.dx.size(); ++i)
          worst_dx.count(value_of(found.dx[0][static_cast<Dim>(i)]), right.dx[i], right.dx_scale[i],
                         size);
      }
    }
    table.add(function.name, "value", worst_y, function.y_units, function.scale);
    table.add(function.name, "slope", worst_dx, function.slope_units, function.scale);
  }
  SUCCEED(table.text());
}
