// How to check a gradient so that the check can fail: error against step; dual numbers, which need
// no step; and a wrong rule that a check of summed outputs misses, and whose cause the checker of
// fledge names.
#include <limits>

#include "engine/dual.h"
#include "engine/gradcheck/gradcheck.h"
#include "examples/lessons/vocabulary.h"

namespace fledge::lessons::in_gradient_check {

// The relative error of (exp(x + h) − exp(x − h)) / 2h, the root mean square of a hundred places.
// exp is its own derivative, so the error depends only on the step and on rounding.
double error_of(double h) {
  double squares = 0;
  for (int i = 0; i < 100; ++i) {
    const double x = 0.5 + i / 400.0, step = (x + h) - x;  // as much as x can really move
    const double slope = (std::exp(x + step) - std::exp(x - step)) / (2 * step);
    squares += std::pow(slope / std::exp(x) - 1, 2);
  }
  return std::sqrt(squares / 100);
}

// Between two steps the error grows as this power of the step.
double power(double from, double to) {
  return std::log(error_of(to) / error_of(from)) / std::log(to / from);
}

void steps(LessonText& to) {
  Table table({{"   step"}, {"error"}});
  std::vector<double> errors;
  for (int decade = 1; decade <= 12; ++decade) {
    errors.push_back(error_of(std::pow(10, -decade)));
    table.row("   1e-%02d | %.0e", decade, errors.back());
  }
  const double best = std::cbrt(std::numeric_limits<double>::epsilon());
  const auto lowest = std::min_element(errors.begin(), errors.end()) - errors.begin();
  const double rises = power(0.125, 0.0625), falls = power(1e-9, 1e-12);
  to.set("valley", table);
  to.set("rises", "%.2f", rises);
  to.set("falls", "%.2f", falls);
  to.set("step", "%.1e", best);
  to.claim("power", std::abs(rises - 2) < 0.05 && std::abs(falls + 1) < 0.1);
  to.claim("best", std::abs(static_cast<double>(lowest + 1) + std::log10(best)) < 0.5);
}

// Lessons 1 and 2 for any kind of number.      x = (q, k1, v1, k2, v2)
template <class Number>
Number attend(const std::vector<Number>& x) {
  const Number e1 = exp(x[0] * x[1]), e2 = exp(x[0] * x[3]);
  return (e1 * x[2] + e2 * x[4]) / (e1 + e2);
}

void dual_numbers(LessonText& to) {
  const std::vector<double> x{2, 0.5, 0.1, -0.25, 0.5};
  std::vector<Tensor> inputs;
  for (const double number : x) inputs.push_back(parameter(Array::full({}, number)));
  backward(attend(inputs));
  double gap = 0;
  for (std::size_t j = 0; j < x.size(); ++j) {
    std::vector<Dual> moving(x.begin(), x.end());
    moving[j].tangent = 1;
    gap = std::max(gap, std::abs(attend(moving).tangent - value_of(inputs[j].grad().item())));
  }
  to.claim("dual", gap <= 1e-15);
}

// Weights of attention, D = 8:   y = softmax(s/√D)   ds = y ⊙ (dy − ⟨dy, y⟩)/√D   planted: no √D
Tensor weights(const Tensor& s, bool planted) {
  const Real scale = 1 / std::sqrt(8.0);
  const Array y = softmax(s.value() * scale).value();
  return record("weights", y, wrt(s, [=](const Array& dy) {
                  const Array ds = y * (dy - sum_over(dy * y, std::array{1}));
                  return planted ? ds : ds * scale;
                }));
}

// Jᵀ·v, by the rule
Array gradient(const Array& scores, const Array& v, bool planted) {
  const Tensor s = parameter(scores.clone());
  backward(weights(s, planted), v);
  return s.grad();
}

void planted_bug(LessonText& to) {
  Rng rng(1);
  const Array s = normal({2, 3}, rng);
  const auto blind = gradcheck([](const auto& in) { return sum(weights(in[0], false)); }, {s});
  const double by_rule = length(gradient(s, Array::ones({2, 3}), true));
  to.set_all("by the wrong rule", by_rule, "by dual numbers", blind.expected);
  to.claim("plain sum", by_rule <= 1e-15 && std::abs(blind.expected) <= 1e-15);
  const int seen = count_seeds(100, [&](std::uint64_t seed) {
    Rng draws(seed);
    const Array v = normal({2, 3}, draws);
    return length(gradient(s, v, true) - gradient(s, v, false)) > 0.01;
  });
  to.claim_rate("random v", seen, 100, 100);

  const auto right = gradcheck([](const auto& in) { return weights(in[0], false); }, {s});
  const auto wrong = gradcheck([](const auto& in) { return weights(in[0], true); }, {s});
  const std::string& cause = wrong.likely_cause;
  to.set("likely cause", cause);
  to.claim("passes", right.ok && !wrong.ok);
  to.claim("factor", cause.find("1/sqrt(8)") != std::string::npos);
  to.claim("refused", !blind.ok);
}

const LessonProgram program({steps, dual_numbers, planted_bug});

}  // namespace fledge::lessons::in_gradient_check
