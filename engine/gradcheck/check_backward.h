// Checks a backward pass written by hand on plain arrays. Copy this header: it is C++17 alone.
//
//   auto forward = [&](const auto& x) { auto y = x; my_gelu(&y[0], &x[0], n); return y; };
//   auto backward = [&](auto& dy, auto& x, auto& dx) { my_gelu_backward(&dx[0], &dy[0], &x[0], n); };
//   std::puts(backward_check::check_backward(forward, backward, x).text().c_str());
//
// Arrays are std::vector<float> or <double>, y = forward(x...). backward(dy, x..., dx...) writes or
// adds dx = dL/dx of L = Σ dy·y; forward runs before it. A forward that takes `auto` must be a
// template all through: it gets Dual numbers, for exact derivatives. Others get differences.
#pragma once

#if defined(__FAST_MATH__) || (defined(__FINITE_MATH_ONLY__) && __FINITE_MATH_ONLY__)
#error "with -ffast-math, -Ofast or -ffinite-math-only NaN cannot be seen: compile without them"
#endif

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <sstream>
#include <string>
#include <tuple>
#include <utility>
#include <valarray>
#include <vector>

namespace backward_check {

inline bool at_kink = false;  // a branch was taken between equal numbers that move apart

/// A value and its derivative, a + bε with ε² = 0.
struct Dual {
  double value = 0, tangent = 0;
  Dual(double v = 0, double t = 0) : value(v), tangent(t) {}
  Dual operator-() const { return {-value, -tangent}; }
#define BACKWARD_CHECK(op, derivative)                                                 \
  friend Dual operator op(Dual a, Dual b) { return {a.value op b.value, derivative}; } \
  Dual& operator op##=(Dual b) { return *this = *this op b; }
  BACKWARD_CHECK(+, a.tangent + b.tangent)
  BACKWARD_CHECK(-, a.tangent - b.tangent)
  BACKWARD_CHECK(*, a.tangent* b.value + a.value * b.tangent)
  BACKWARD_CHECK(/, (a.tangent - a.value / b.value * b.tangent) / b.value)
#undef BACKWARD_CHECK
#define BACKWARD_CHECK(op)                                   \
  friend bool operator op(Dual a, Dual b) {                  \
    at_kink |= a.value == b.value && a.tangent != b.tangent; \
    return a.value op b.value;                               \
  }
  BACKWARD_CHECK(<)
  BACKWARD_CHECK(>)
  BACKWARD_CHECK(<=)
  BACKWARD_CHECK(>=)
  BACKWARD_CHECK(==)
  BACKWARD_CHECK(!=)
#undef BACKWARD_CHECK
};

// Functions and their slopes at x, where y = f(x); also by C's name for float. Add what you need.
#define BACKWARD_CHECK(f, f_of_float, slope)                  \
  inline Dual f(Dual a) {                                     \
    [[maybe_unused]] const double x = a.value, y = std::f(x); \
    return {y, a.tangent == 0 ? 0 : a.tangent * (slope)};     \
  }                                                           \
  inline Dual f_of_float(Dual a) { return f(a); }
BACKWARD_CHECK(exp, expf, y)
BACKWARD_CHECK(log, logf, 1 / x)
BACKWARD_CHECK(sqrt, sqrtf, 0.5 / y)
BACKWARD_CHECK(tanh, tanhf, 1 - y * y)
BACKWARD_CHECK(erf, erff, 1.1283791670955126 * std::exp(-x * x))
BACKWARD_CHECK(fabs, fabsf, (at_kink |= x == 0, x < 0 ? -1 : 1))
#undef BACKWARD_CHECK
inline Dual pow(Dual a, Dual b) {
  const double y = std::pow(a.value, b.value), slope = b.value * std::pow(a.value, b.value - 1);
  return {y, (a.tangent == 0 ? 0 : a.tangent * slope) +
                 (b.tangent == 0 ? 0 : b.tangent * y * std::log(a.value))};
}
inline Dual powf(Dual a, Dual b) { return pow(a, b); }

using Size = std::size_t;
using Doubles = std::valarray<double>;

struct Element {
  Size index = 0;
  double a = 0, n = 0;  // dx by backward, and the true one
  double error = 0;  // |a − n| / Σ_i |dy_i·∂y_i/∂x_j|, which is at least 1 % of the largest
  double open = 0, doubt = 0;  // of n: what differences leave open; what a kink does
  Doubles slopes = {};         // ∂y_i/∂x_j
};

struct Report {
  std::string problem = {}, likely_cause = {};  // empty if there is none
  Size elements = 0, undecided = 0;             // undecided: hidden by rounding, or at a kink
  double max_error = 0, visible = 0;            // a larger error than `visible` is found
  std::vector<Element> wrong = {};              // of one input, the worst first
  explicit operator bool() const { return problem.empty(); }
  std::string text() const {
    std::ostringstream t;
    t << (problem.empty() ? "ok" : problem) << "; " << elements << " elements, " << undecided
      << " undecided, largest error " << max_error << ", errors above " << visible << " are seen"
      << (likely_cause.empty() ? "" : "; likely cause: ") << likely_cause;
    for (Size k = 0; k < std::min<Size>(wrong.size(), 5); ++k)
      t << "\n    [" << wrong[k].index << "]  by backward " << wrong[k].a << "  expected "
        << wrong[k].n;
    return t.str();
  }
};

// f' = (45·(f₁ − f₋₁) − 9·(f₂ − f₋₂) + (f₃ − f₋₃)) / 60h + O(h⁶). Of several steps h, from 2·ε^(1/7)
// down to a sixtieth of it, for inputs of a small `scale` further, the one is best that agrees most
// with the one before.
template <class F>
Element differences(const F& forward, double eps, Doubles x, Size j, const Doubles& dy,
                    double scale) {
  const double at = x[j], unit = 2 * std::pow(eps, 1 / 7.0),
               most = unit * std::max(1.0, std::abs(at)),
               least = unit * std::max(scale, std::abs(at)) / 60;
  const auto y = [&](double h) { return x[j] = at + h, forward(x); };
  const auto weigh = [&](const Doubles& slopes) { return std::abs(dy * slopes).sum(); };
  const Doubles here = y(0);
  Doubles before(HUGE_VAL, dy.size()), now, wider(dy.size());
  Element best;
  best.slopes = before * 0.0;  // NaN: no step decides
  double gap = best.open = HUGE_VAL;
  for (double h = most; h > least; h *= 0.47, before = now) {
    const Doubles up = y(h), down = y(-h), wide = 9.0 * (y(2 * h) - y(-2 * h));
    now = (45.0 * (up - down) - wide + y(3 * h) - y(-3 * h)) / (60 * h);
    const double last = std::exchange(gap, weigh(now - before));
    const double open = 3 * (std::max(gap, last / 4) + eps * weigh(here) / h);
    // The slope to the right, less that to the left: as large as h, but for a kink near x.
    const Doubles bend = (up - 2.0 * here + down) / h;
    const double kink = weigh((bend - 0.47 * wider) / 0.53);
    wider = bend;
    if (open >= best.open) continue;
    best.open = open, best.slopes = now;
    best.doubt = kink > 0.005 * weigh(now) ? kink : 0;
  }
  return best;
}

/// What the wrong ones of all elements have in common; empty if it is nothing known.
inline std::string diagnosis(const std::vector<Element>& wrong, const std::vector<Element>& all,
                             const Doubles& x, const Doubles& y, const Doubles& dy) {
  const Size count = all.size(), outputs = y.size();
  std::string cause;
  const auto is = [&](const std::string& name, const auto& gradient) {  // to 5 % of each error
    for (const Element& e : wrong)
      if (!(std::abs(e.a - gradient(e.index)) <= 0.05 * std::abs(e.a - e.n))) return;
    if (cause.empty()) cause = name;
  };
  double squares = 0, ratio = 0;  // of a to n, by least squares
  for (const Element& e : wrong) squares += e.n * e.n;
  for (const Element& e : wrong) ratio += e.a * e.n / squares;
  if (wrong[0].error > 1e300) return "a division by 0, or memory that was never set";
  if (wrong.size() == 1) return "one index alone is wrong";
  is("backward leaves zeros", [](Size) { return 0; });
  is("dy is not used, as if it were 1", [&](Size j) { return all[j].slopes.sum(); });
  is(std::abs(ratio + 1) < 1e-3 ? "the sign" : "a factor of " + std::to_string(ratio),
     [&](Size j) { return ratio * all[j].n; });
  if (outputs == count) is("dy is copied", [&](Size j) { return dy[j]; });
  for (Size k = 2; k < count; ++k)
    if (count % k == 0)
      is("transposed, of " + std::to_string(k) + " rows",
         [&](Size j) { return all[j % k * (count / k) + j / k].n; });
  for (Size k = 1; k < outputs; ++k)
    for (const Size begin : {Size(0), outputs - k})
      if (outputs % k == 0)
        is((begin == 0 ? "not summed: only the first " : "= for +=: only the last ") +
               std::to_string(k) + " outputs count",
           [&](Size j) { return Doubles((dy * all[j].slopes)[std::slice(begin, k, 1)]).sum(); });
  // In each row of `width` elements the error is c + d·b, by the first two.
  const auto error = [&](Size j) { return all[j].a - all[j].n; };
  const std::pair<const char*, Doubles> terms[] = {
      {"a mean", Doubles(1.0, count)}, {"x times a sum", x}, {"y times a sum", y}, {"dy", dy}};
  for (Size width = count; width > 3; --width)
    for (const auto& [name, b] : terms)
      if (count % width == 0 && b.size() == count && wrong.size() >= 2 * (count / width) + 2)
        is(std::string("a term is missing or too much: ") + name, [&, &b = b](Size j) {
          const Size k = j / width * width;
          const double d = (error(k + 1) - error(k)) / (b[k + 1] - b[k]);
          return all[j].n + error(k) + (std::isfinite(d) ? d * (b[j] - b[k]) : 0);
        });
  return cause;
}

template <class F, class B, class... T>
Report check_backward(F&& forward, B&& backward, const std::vector<T>&... inputs) {
  using Number = std::common_type_t<T...>;
  constexpr bool exact = std::is_invocable_v<F, decltype(std::vector<Dual>(inputs.size()))...>;
  constexpr double eps = std::numeric_limits<Number>::epsilon();
  // A softmax near one word cancels: dw - sum of w dw loses four digits. Float cannot spare them.
  constexpr double roundings = std::is_same_v<Number, double> ? 1e4 : 1e3;
  // The inputs stand end to end in one array; split() parts them. Of Duals, x_j has tangent 1.
  const auto split = [&](auto number, const Doubles& all, Size j) {
    std::vector<decltype(number)> flat(begin(all), end(all));
    if constexpr (std::is_same_v<decltype(number), Dual>) flat[j].tangent = 1;
    auto at = flat.begin();
    const auto next = [&](auto count) { return at += count, decltype(flat)(at - count, at); };
    return std::tuple{next(std::ptrdiff_t(inputs.size()))...};
  };
  const auto joined = [](const auto&... arrays) {
    std::vector<double> all;
    (all.insert(all.end(), arrays.begin(), arrays.end()), ...);
    return Doubles(all.data(), all.size());
  };
  const auto y_at = [&](const Doubles& at) {
    return joined(std::apply(forward, split(Number(), at, 0)));
  };
  const auto dx_at = [&](const Doubles& at, const Doubles& dy) {
    auto dx = split(Number(), Doubles(at.size()), 0);
    const auto arrays = split(Number(), at, 0);
    std::apply(forward, arrays);
    const std::vector<Number> v(begin(dy), end(dy));
    const auto fill = [&](auto&... dxs) {
      std::apply([&](const auto&... xs) { backward(v, xs..., dxs...); }, arrays);
    };
    std::apply(fill, dx);
    return std::apply(joined, dx);
  };
  Report report;
  const auto fail = [&](const std::string& problem) { return report.problem = problem, report; };
  const Doubles x = joined(inputs...), y = y_at(x);
  if (x.size() * y.size() == 0) return fail("nothing to compare: no input or no output");
  if ((y != y_at(x)).max()) return fail("forward returns NaN, or another y each time");
  std::mt19937 random(1);
  Doubles dy(y.size()), noise(x.size());  // noise: how dx moves when x moves in its last places
  for (double& v : dy) v = (random() % 2 == 0 ? 1 : -1) * (512.0 + double(random() % 1024)) / 1024;
  const Doubles a = dx_at(x, dy);
  if (a.size() != x.size()) return fail("backward changes the size of dx");
  // Threads may add in another order, which changes last digits.
  if (std::abs(dx_at(x, dy) - a).max() > std::sqrt(eps) * std::abs(a).max())
    return fail("backward gives another dx each time: threads race, or memory was never set");
  for (int trial = 0; trial < 10; ++trial) {
    Doubles moved = x;
    for (double& v : moved) v *= 1 + eps * (double(random() % 7) - 3);
    noise += std::abs(dx_at(moved, dy) - a);
  }
  Size input = 0;
  for (const Size count : {inputs.size()...}) {
    const std::string name = "input " + std::to_string(input++);
    const Size begin = std::exchange(report.elements, report.elements + count),
               undecided_before = report.undecided;
    std::vector<Element> all(count), wrong;
    Doubles sums(count);
    const double largest = count == 0 ? 0 : std::abs(x[std::slice(begin, count, 1)]).max();
    const double scale = largest > 0 ? std::min(1.0, 10 * largest) : 1;
    for (Size j = 0; j < count; ++j) {
      Element& e = all[j];
      if constexpr (!exact) e = differences(y_at, eps, x, begin + j, dy, scale);
      if constexpr (exact) {
        at_kink = false;
        const auto duals = std::apply(forward, split(Dual(), x, begin + j));
        if (at_kink) e.doubt = HUGE_VAL;
        e.slopes.resize(y.size());
        for (Size i = 0; i < y.size(); ++i) e.slopes[i] = duals[i].tangent;
      }
      e.index = j, e.a = a[begin + j], e.n = (dy * e.slopes).sum();
      sums[j] = std::abs(dy * e.slopes).sum();
    }
    if (count == 0 || sums.max() == 0)
      return fail("no output depends on " + name + ": leave it out");
    for (Element& e : all) {
      const double size = std::max(sums[e.index], 0.01 * sums.max()),
                   difference = std::abs(e.a - e.n);
      e.error = std::isfinite(difference) ? difference / size : HUGE_VAL;
      const double rounding = std::isfinite(e.a) ? 2.4 * noise[begin + e.index] : 0,
                   open = (e.open + rounding) / size,
                   allowed = open + (exact ? roundings * eps : std::sqrt(eps));
      const bool is_known = std::isfinite(open + e.n) && open <= 0.02,
                 is_wrong = is_known && e.error > allowed + e.doubt / size,
                 is_open = !is_known || (e.error > allowed && !is_wrong);
      report.undecided += is_open;
      if (is_wrong) wrong.push_back(e);
      if (is_open) continue;
      report.max_error = std::max(report.max_error, e.error);
      report.visible = std::max(report.visible, allowed);
    }
    if (report.undecided - undecided_before == count)
      return fail("nothing could be decided about " + name +
                  ": rounding or a kink hides how y moves with it; try other numbers, or double");
    std::stable_sort(wrong.begin(), wrong.end(),
                     [](auto& l, auto& r) { return l.error > r.error; });
    if (wrong.empty() || (!report && report.wrong[0].error >= wrong[0].error)) continue;
    report.problem = "the gradient of " + name + " is wrong in " + std::to_string(wrong.size()) +
                     " of " + std::to_string(count) + " elements";
    report.likely_cause = diagnosis(wrong, all, x[std::slice(begin, count, 1)], y, dy);
    report.wrong = wrong;
  }
  return report;
}

}  // namespace backward_check
