// The checker for plain arrays, on functions of one line: what it refuses, which causes it names, and
// what it leaves undecided. tests/plain has layers as people write them.
#include "engine/gradcheck/check_backward.h"

#include "tests/support/catch.h"

using backward_check::check_backward, backward_check::Report;

namespace {

template <class T>
using Values = std::vector<T>;
const Values<double> six_values{0.5, -1.5, 2, 0.25, -0.75, 1.25};
const Values<double> eight_values{0.5, -1.5, 2, 0.25, -0.75, 1.25, 3, 1};

/// y = f(x) element by element with dx = slope(x)·dy, by differences.
template <class T, class F, class Slope>
Report check_curve(const Values<T>& x, F f, Slope slope) {
  return check_backward(
      [&](const Values<T>& in) {
        Values<T> y;
        for (const T v : in) y.push_back(static_cast<T>(f(v)));
        return y;
      },
      [&](const auto& dy, const auto& in, auto& dx) {
        for (std::size_t i = 0; i < in.size(); ++i) dx[i] += static_cast<T>(slope(in[i])) * dy[i];
      },
      x);
}

/// The cause for y = x and dx_i = slope(dy, i).
template <class Slope>
std::string cause_of(Slope slope, const Values<double>& x = six_values) {
  const auto backward = [&](const auto& dy, const auto& in, auto& dx) {
    for (std::size_t i = 0; i < in.size(); ++i) dx[i] = slope(dy, i);
  };
  const Report report = check_backward([](const auto& in) { return in; }, backward, x);
  CHECK_FALSE(report);
  CHECK(report.wrong.size() > 1);
  return report.likely_cause;
}

}  // namespace

TEST_CASE("right functions pass in float and in double, and undecided elements are counted") {
  const auto cube = [](double v) { return v * v * v; };
  const auto shift = [](float v) { return (v + 1e4F) - 1e4F; };
  const auto relu = [](double v) { return v > 0 ? v : 0; };
  const auto logarithm = [](auto v) { return std::log(v); };
  const auto inverse = [](auto v) { return 1 / v; };
  const Report smooth = check_curve(six_values, cube, [](double v) { return 3 * v * v; });
  CHECK((smooth && smooth.visible > smooth.max_error && smooth.visible < 1e-3));
  CHECK(check_curve(Values<float>{5, 3, -40}, shift, [](float) { return 1; }));
  CHECK(check_curve(Values<float>{0.01F, 1, 300}, logarithm, inverse));
  // A slope at a kink is one of many. Beside an edge of the domain no step has a value.
  const Values<double> from_kink{0, 1}, near_edge{1e-9, 1};
  for (const double at_zero : {0.0, 0.5, 1.0, 7.0}) {
    const auto slope = [=](double v) { return v > 0 ? 1 : at_zero; };
    const Report kink = check_curve(from_kink, relu, slope);
    CHECK(kink.problem.empty() == (at_zero <= 1));
    CHECK((!kink || kink.undecided == (at_zero == 0.5 ? 0 : 1)));
  }
  const Report edge = check_curve(near_edge, logarithm, inverse);
  CHECK((edge && edge.undecided == 1 && edge.elements == 2));
}

TEST_CASE("kinks anywhere near the inputs accuse no right function") {
  Values<float> x;
  for (unsigned seed = 1, i = 0; i < 640; ++i) {
    seed = seed * 1664525 + 1013904223;
    x.push_back(static_cast<float>(seed >> 8) / (1 << 23) - 1);
  }
  const auto relu = [](float v) { return v > 0 ? v : 0; };
  const auto slope = [](float v) { return v > 0 ? 1 : 0; };
  for (auto at = x.begin(); at != x.end(); at += 64)
    CHECK(check_curve(Values<float>(at, at + 64), relu, slope));
}

TEST_CASE("patterns of errors have causes") {
  using Index = std::size_t;
  CHECK(cause_of([](auto& dy, Index i) { return -dy[i]; }) == "the sign");
  CHECK(cause_of([](auto& dy, Index i) { return 0.5 * dy[i]; }) == "a factor of 0.500000");
  CHECK(cause_of([](auto&, Index) { return 0; }) == "backward leaves zeros");
  CHECK(cause_of([](auto&, Index) { return 1; }) == "dy is not used, as if it were 1");
  CHECK(check_backward(
            [](const auto& x) {
              return Values<std::decay_t<decltype(x[0])>>{x[0] * x[0] + x[1] * x[1] + x[2] * x[2]};
            },
            [](const auto&, const auto& x, auto& dx) {
              for (std::size_t i = 0; i < 3; ++i) dx[i] = 2 * x[i];
            },
            Values<double>{1, 2, 3})
            .likely_cause == "dy is not used, as if it were 1");
  CHECK(cause_of([](auto& dy, Index i) { return dy[i % 2 * 3 + i / 2]; }) ==
        "transposed, of 2 rows");
  CHECK(cause_of([](auto& dy, Index i) { return dy[i] / (i < 3 ? 1 : 0); }) ==
        "a division by 0, or memory that was never set");
  const auto one_term_more = [](auto& dy, Index i) {
    return dy[i] + (i < 4 ? 2 : -1) * eight_values[i];
  };
  CHECK(cause_of(one_term_more, eight_values) == "a term is missing or too much: x times a sum");
  const Report one = check_backward([](const auto& x) { return x; },
                                    [](const auto& dy, const auto&, auto& dx) {
                                      dx = dy;
                                      dx[2] += 1e-9;
                                    },
                                    six_values);
  CHECK((one.likely_cause == "one index alone is wrong" && one.wrong[0].index == 2));
}

TEST_CASE("a branch between equal numbers decides nothing about the slope, and all about others") {
  const auto relu = [](const auto& x) {
    auto y = x;
    for (auto& v : y)
      if (v <= 0) v = 0;
    return y;
  };
  for (const double at_zero : {0.0, 0.5, 1.0})
    for (const double above : {1.0, 2.0}) {
      const Report report = check_backward(
          relu,
          [=](const auto& dy, const auto& x, auto& dx) {
            for (std::size_t i = 0; i < 3; ++i)
              dx[i] = dy[i] * (x[i] > 0 ? above : x[i] < 0 ? 0 : at_zero);
          },
          Values<double>{-1, 0, 3});
      CHECK(report.problem.empty() == (above == 1));
      CHECK(report.undecided == (at_zero == 0 ? 0 : 1));
    }
}

TEST_CASE("pow, fabs and == have exact derivatives, and fabs has none at 0") {
  for (const double error : {0.0, 1e-8}) {
    const Report report = check_backward(
        [](const auto& x) {
          auto y = x;
          y[0] = pow(x[0], x[1]) + pow(x[0], 3) + pow(2, x[1]);
          y[1] = x[0] == x[1] ? x[0] : x[0] != x[1] ? fabs(x[2]) : x[1];
          y[2] = fabs(x[3]);
          return y;
        },
        [=](const auto& dy, const auto& x, auto& dx) {
          const double p = std::pow(x[0], x[1]);
          dx = {dy[0] * (p * x[1] / x[0] + 3 * x[0] * x[0]),
                dy[0] * (p * std::log(x[0]) + std::pow(2, x[1]) * std::log(2) + error), -dy[1],
                0.5 * dy[2] + dy[3]};
        },
        Values<double>{1.5, 0.5, -2, 0});
    CHECK((report.problem.empty() == (error == 0) && report.undecided == 1));
  }
}

TEST_CASE("a backward pass that races is refused, and one that adds in another order is not") {
  std::size_t calls = 0;
  const auto same = [](const auto& x) { return x; };
  for (const double lost : {1.0, 1e-12}) {
    const Report report = check_backward(
        same,
        [&](const auto& dy, const auto&, auto& dx) {
          dx = dy;
          dx[2] *= 1 - lost * double(++calls % 2);
        },
        six_values);
    CHECK(report.problem.starts_with(lost == 1 ? "backward gives another dx" : ""));
    CHECK(report.problem.empty() == (lost < 1));
  }
  // Nothing is known about a whole input.
  CHECK(check_backward(
            [](const Values<double>& x, const Values<double>& w) {
              return Values<double>{x[0] + x[1], w[0] > 0 ? w[0] : 0};
            },
            [](const auto& dy, const auto&, const auto&, auto& dx, auto& dw) {
              dx = {dy[0], dy[0]}, dw = {0.3 * dy[1]};
            },
            Values<double>{1, 2}, Values<double>{0})
            .problem.find("nothing could be decided about input 1: rounding or a kink") == 0);
}

TEST_CASE("inputs of any size, 0 among them, are decided") {
  const Values<float> x{0.5F, -1.5F, 2, 0.25F};
  for (const float size : {0.0F, 1e-5F, 1e-3F, 1.0F})
    for (const float factor : {1.0F, 2.0F}) {
      CAPTURE(size, factor);
      Values<float> bias = x;
      for (float& b : bias) b *= size;
      const auto add = [](const auto& in, const auto& b) {
        auto y = in;
        for (std::size_t i = 0; i < y.size(); ++i) y[i] = in[i] + in[i] + b[i];
        return y;
      };
      const auto plain = [&](const Values<float>& in, const Values<float>& b) {
        return add(in, b);
      };
      const auto backward = [&](const auto& dy, const auto&, const auto&, auto& dx, auto& db) {
        for (std::size_t i = 0; i < dx.size(); ++i) dx[i] = 2 * dy[i], db[i] = factor * dy[i];
      };
      CHECK(bool(check_backward(add, backward, x, bias)) == (factor == 1));
      CHECK(bool(check_backward(plain, backward, x, bias)) == (factor == 1));
    }
  const Values<double> tiny{1e-12, -2e-12};
  const auto one_more = [](double v) { return v + 1; };
  for (const double slope : {1.0, 1.01})
    CHECK(bool(check_curve(tiny, one_more, [=](double) { return slope; })) == (slope == 1));
  // An RMS norm of single numbers is their sign: rounding is all that is left of dx.
  for (const float at : {0.7F, 30.0F}) {
    const auto norm = [](const auto& in) {
      using std::sqrt;
      auto y = in;
      for (std::size_t i = 0; i < y.size(); ++i) y[i] = in[i] / sqrt(in[i] * in[i] + 1e-5F);
      return y;
    };
    const auto backward = [](const auto& dy, const Values<float>& in, auto& dx) {
      for (std::size_t i = 0; i < in.size(); ++i) {
        const float r = 1 / std::sqrt(in[i] * in[i] + 1e-5F), y = in[i] * r;
        dx[i] = r * (dy[i] - y * y * dy[i]);
      }
    };
    const Report report = check_backward(norm, backward, Values<float>{at, -0.4F * at, 1.3F * at});
    CHECK(report.wrong.empty());
  }
}

TEST_CASE("what cannot be checked is refused") {
  const auto copy = [](const auto& dy, const auto&, auto& dx) { dx = dy; };
  const auto same = [](const auto& x) { return x; };
  const std::string nothing = "nothing to compare: no input or no output";
  CHECK(check_backward(same, copy, Values<double>{}).problem == nothing);
  CHECK(check_backward(
            same, [](const auto&, const auto&, auto& dx) { dx.clear(); }, six_values)
            .problem == "backward changes the size of dx");
  int calls = 0;
  CHECK(check_backward([&](const Values<double>& x) { return Values<double>(x.size(), ++calls); },
                       copy, six_values)
            .problem == "forward returns NaN, or another y each time");
  CHECK(check_backward([](const Values<double>& x) { return Values<double>(x.size(), 1); }, copy,
                       six_values)
            .problem == "no output depends on input 0: leave it out");
}
