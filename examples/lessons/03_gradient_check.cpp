// Lesson 3: how to check a gradient so that the check can fail.
//
// Lesson 1 compared with differences whose step fell from the sky. This one adds where steps come
// from (error against step for 2, 4 and 6 points), dual numbers, which have no step, and a wrong
// rule that a check of summed outputs misses, and that fledge's checker finds and explains.
// Key idea: compare Jᵀ·v with the same number got without backward(), for a random v.
// Next: engine/gradcheck/gradcheck.h, oracle.cpp, comparison.cpp, diagnosis.cpp.
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "engine/array_math.h"
#include "engine/autograd.h"
#include "engine/dual.h"
#include "engine/gradcheck/gradcheck.h"
#include "engine/ops.h"
#include "examples/lessons/lesson.h"
#include "examples/support/plots.h"

namespace fledge {
namespace {

using support::formatted, support::Lesson, support::sparkline;

// exp'(x) by 2, 4 or 6 points:    Σ_k weight_k·(exp(x + k·h) − exp(x − k·h)) / h + O(h^points)
double slope_of_exp(int points, double x, double h) {
  constexpr double stencils[3][3] = {
      {1 / 2.0, 0, 0}, {8 / 12.0, -1 / 12.0, 0}, {45 / 60.0, -9 / 60.0, 1 / 60.0}};
  double total = 0;
  for (int k = 1; k <= points / 2; ++k)
    total += stencils[points / 2 - 1][k - 1] * (std::exp(x + k * h) - std::exp(x - k * h));
  return total / h;
}

// Relative, root mean square over a hundred places. All derivatives of exp are alike, so nothing
// counts but the step and rounding.
double error_of(int points, double h) {
  double squares = 0;
  for (int i = 0; i < 100; ++i) {
    const double x = 0.5 + i / 400.0, step = (x + h) - x;  // as much as x can really move
    squares += std::pow(slope_of_exp(points, x, step) / std::exp(x) - 1, 2);
  }
  return std::sqrt(squares / 100);
}

// Between two steps the error grows as this power of the step.
double power(int points, double from, double to) {
  return std::log(error_of(points, to) / error_of(points, from)) / std::log(to / from);
}

void steps(Lesson& to) {
  to.part("The step: not too long, not too short");
  to.say(
      "The derivative of exp by differences with the step h: the relative error, as a root mean "
      "square over 100 places.\n");
  to.show("   step    2 points      4 points      6 points");
  constexpr std::array points{2, 4, 6};
  std::array<std::vector<double>, 3> logs;
  for (int decade = 1; decade <= 12; ++decade) {
    std::string line = formatted("   1e-%02d", decade);
    for (std::size_t i = 0; i < 3; ++i) {
      const double error = error_of(points[i], std::pow(10, -decade));
      logs[i].push_back(std::log10(error));
      line += formatted(i == 0 ? "   %.0e" : "         %.0e", error);
    }
    to.show(line);
  }
  to.show("   valley  " + sparkline(logs[0]) + "  " + sparkline(logs[1]) + "  " +
          sparkline(logs[2]));
  to.say(
      "\nFrom the top down the error first falls as a power of h: this is the part that the formula "
      "leaves out. Then it rises as 1/h: the values of f are rounded, and this rounding error is "
      "divided by an ever smaller step.\n");
  for (std::size_t i = 0; i < 3; ++i) {
    const int p = points[i];
    const double best = std::pow(std::numeric_limits<double>::epsilon(), 1.0 / (p + 1));
    const auto lowest = std::min_element(logs[i].begin(), logs[i].end()) - logs[i].begin();
    const std::string name = std::to_string(p) + " points: ";
    to.claim_near(power(p, 0.125, 0.0625), p, 0.05, name + "the error falls with this power of h");
    to.claim_near(power(p, 1e-9, 1e-12), -1, 0.1, name + "and rises with this one");
    to.claim(std::abs(static_cast<double>(lowest + 1) + std::log10(best)) < 0.5,
             name + formatted("best at the decade nearest to eps^(1/%d) = %.1e", p + 1, best));
  }
}

// Lessons 1 and 2 for any kind of number.      x = (q, k1, v1, k2, v2)
template <class Number>
Number attend(const std::vector<Number>& x) {
  const Number e1 = exp(x[0] * x[1]), e2 = exp(x[0] * x[3]);
  return (e1 * x[2] + e2 * x[4]) / (e1 + e2);
}

void dual_numbers(Lesson& to) {
  to.part("Dual numbers: no step at all");
  to.say(
      "A dual number a + b eps, with eps^2 = 0, carries its derivative b along. The expression of "
      "lesson 1 in dual numbers:\n");
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
  to.claim_near(gap, 0, 1e-15, "largest difference from backward(), five inputs");
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

double norm(const Array& x) { return std::sqrt(value_of(sum(x * x).item())); }

void planted_bug(Lesson& to) {
  to.part("One planted bug, looked for twice");
  to.say(
      "The weights are softmax(s / sqrt(8)). The planted bug: the rule forgets the factor "
      "1/sqrt(8).\n");
  Rng rng(1);
  const Array s = random_normal({2, 3}, 0, 1, rng);
  const auto blind = gradcheck([](const auto& in) { return sum(weights(in[0], false)); }, {s});
  const double by_rule = norm(gradient(s, Array::ones({2, 3}), true));
  to.claim(by_rule <= 1e-15 && std::abs(blind.expected) <= 1e-15,
           formatted("gradient of the plain sum: %.0g by that rule, ", by_rule) +
               formatted("%.0g by dual numbers", blind.expected));
  to.say(
      "\nA row of weights sums to 1 whatever s is, so the gradient of the sum is zero. A check that "
      "only sums the outputs, v = (1, ..., 1), finds nothing wrong.\n");
  int seen = 0;
  for (std::uint64_t seed = 1; seed <= 100; ++seed) {
    Rng draws(seed);
    const Array v = random_normal({2, 3}, 0, 1, draws);
    seen += norm(gradient(s, v, true) - gradient(s, v, false)) > 0.01 ? 1 : 0;
  }
  to.claim_rate(seen, 100, 100, "with a random v the two rules differ by more than 0.01");

  const auto right = gradcheck([](const auto& in) { return weights(in[0], false); }, {s});
  const auto wrong = gradcheck([](const auto& in) { return weights(in[0], true); }, {s});
  const std::string& cause = wrong.likely_cause;
  to.say("\nThe checker of fledge draws v at random. Its report of the right rule:\n   " +
         to_string(right));
  to.say("Its report of the planted rule, after the numbers:\n   " + cause + "\n");
  to.claim(right.ok && !wrong.ok, "the right rule passes, the planted one does not");
  to.claim(cause.find("1/sqrt(8)") != std::string::npos,
           "the report names the root that is missing");
  to.claim(!blind.ok,
           "the check of a plain sum fails even for the right rule: it could not have failed");
}

}  // namespace
}  // namespace fledge

int main(int argc, char** argv) {
  const auto purpose = "Steps, dual numbers, and a check that can fail.";
  return support::run_lesson(argc, argv, "03_gradient_check", purpose, [](auto& to) {
    fledge::steps(to);
    fledge::dual_numbers(to);
    fledge::planted_bug(to);
  });
}
