// How to check a gradient so that the check can fail.
//
// Where the length of a step comes from (error against step for 2, 4 and 6 points); dual numbers,
// which need no step; and a wrong rule that a check of summed outputs misses. The checker of fledge
// finds that rule and names its cause.
// Key idea: compare Jᵀ·v by backward() with the same number computed in another way, for a random v.
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
#include "examples/lessons/lesson_page.h"
#include "examples/support/plots.h"

namespace fledge {
namespace {

using support::formatted, support::Lesson, support::sparkline, support::Svg;

// exp'(x) by 2, 4 or 6 points:    Σ_k weight_k·(exp(x + k·h) − exp(x − k·h)) / h + O(h^points)
double slope_of_exp(int points, double x, double h) {
  constexpr double stencils[3][3] = {
      {1 / 2.0, 0, 0}, {8 / 12.0, -1 / 12.0, 0}, {45 / 60.0, -9 / 60.0, 1 / 60.0}};
  double total = 0;
  for (int k = 1; k <= points / 2; ++k)
    total += stencils[points / 2 - 1][k - 1] * (std::exp(x + k * h) - std::exp(x - k * h));
  return total / h;
}

// The relative error, as a root mean square over a hundred places. exp is its own derivative, so the
// error depends only on the step and on rounding.
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
  to.part("How long is a good step?");
  to.say(
      "A finite difference moves an input up and down by a small step h. The change of the result, "
      "divided by 2h, is an estimate of the derivative. We try it on exp, whose derivative is "
      "known: exp itself. With 4 points exp is also computed at x + 2h and x - 2h, with 6 points "
      "also at x + 3h and x - 3h. Each such pair gives an estimate. They are added up with weights "
      "that make most of their errors cancel. The table has the relative error, which is the error "
      "divided by the true derivative: the root of the mean of its squares over 100 places x.\n");
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
      "\nThe last line draws each column as a curve, with the top of the table on the left: a "
      "valley. As the step becomes shorter, the error first falls, because a short piece of the "
      "curve is more nearly straight. Then it rises again.\n");
  to.define("rounding error",
            "The small error of storing a number with a limited number of digits.");
  to.say(
      "\nThe computer stores about 16 digits. This small error is divided by the step. So a step "
      "that is ten times shorter makes this part of the error ten times larger. For 2 points "
      "0.00001 is the best of the three steps. If you predicted the shortest one, this is a "
      "surprise.\nSo the error has two parts. The first comes from the curve and is about h^p for "
      "p points: for 2 points, a step ten times shorter makes it a hundred times smaller. The "
      "second comes from rounding and is about u/h. Here u = 2.2e-16 is the distance from 1 to the "
      "next larger number that the computer can store. The best step is near the h where both are "
      "equal: h^p = u/h, so h = u^(1/(p + 1)).\n");
  for (std::size_t i = 0; i < 3; ++i) {
    const int p = points[i];
    const double best = std::pow(std::numeric_limits<double>::epsilon(), 1.0 / (p + 1));
    const auto lowest = std::min_element(logs[i].begin(), logs[i].end()) - logs[i].begin();
    const std::string name = std::to_string(p) + " points: ";
    const double rises = power(p, 0.125, 0.0625), falls = power(p, 1e-9, 1e-12);
    to.claim(
        std::abs(rises - p) < 0.05 && std::abs(falls + 1) < 0.1,
        name + formatted("the error grows like h^%.2f for long steps, like h^%.2f for short ones",
                         rises, falls));
    to.claim(std::abs(static_cast<double>(lowest + 1) + std::log10(best)) < 0.5,
             name + formatted("the best step is near u^(1/%d) = %.1e", p + 1, best));
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
  to.define(
      "dual number",
      "A pair a + b t, where t is a symbol with t * t = 0; a formula computed for x + t gives its "
      "exact derivative as the second part.");
  to.say(
      "\nCompute as usual, and leave out t * t. For example (3 + t)^2 = 9 + 6t + t * t = 9 + 6t: "
      "the square of 3 is 9, and its derivative there is 6. A function f has the rule f(a + b t) = "
      "f(a) + f'(a) b t, where f' is its derivative. So exp(a + b t) = exp(a) + exp(a) b t. There "
      "is no step, so there is no error of a step.\nWe compute the attention of lesson engine/01 "
      "with dual numbers, once for each of its five inputs:\n");
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
  to.part("A wrong rule, and two ways to look for it");
  to.define("gradient check",
            "A comparison of the gradient by backward() with one computed in another way.");
  to.define("oracle", "The other way to compute a gradient: finite differences or dual numbers.");
  to.define("planted bug", "A wrong line put in on purpose, to see whether a check finds it.");
  to.define(
      "cotangent",
      "Numbers v, one for each output y: a backward pass that begins with v gives the gradient of "
      "v1 y1 + v2 y2 + ... + vn yn.");
  to.say(
      "\nWe check the attention weights of a head of size 8: softmax(s / sqrt(8)), two rows of "
      "three weights. The planted bug: the rule forgets the factor 1/sqrt(8).\nA simple check adds "
      "up all six weights and looks at the gradient of the sum. Its cotangent is v = (1, 1, 1, 1, "
      "1, 1). But a row of weights always adds up to 1. So the sum never changes, and its gradient "
      "is 0. The wrong rule gives 0 as well, because any factor times 0 is 0. This check finds "
      "nothing wrong.\nSo fledge takes random numbers for v. Then the missing factor shows.\n");
  Rng rng(1);
  const Array s = random_normal({2, 3}, 0, 1, rng);
  const auto blind = gradcheck([](const auto& in) { return sum(weights(in[0], false)); }, {s});
  const double by_rule = norm(gradient(s, Array::ones({2, 3}), true));
  to.claim(by_rule <= 1e-15 && std::abs(blind.expected) <= 1e-15,
           formatted("gradient of the plain sum: %.0g by the wrong rule, ", by_rule) +
               formatted("%.0g by dual numbers", blind.expected));
  int seen = 0;
  for (std::uint64_t seed = 1; seed <= 100; ++seed) {
    Rng draws(seed);
    const Array v = random_normal({2, 3}, 0, 1, draws);
    seen += norm(gradient(s, v, true) - gradient(s, v, false)) > 0.01 ? 1 : 0;
  }
  to.claim_rate(seen, 100, 100,
                "with a random v the gradients by the two rules are vectors more than 0.01 apart");

  const auto right = gradcheck([](const auto& in) { return weights(in[0], false); }, {s});
  const auto wrong = gradcheck([](const auto& in) { return weights(in[0], true); }, {s});
  const std::string& cause = wrong.likely_cause;
  to.say("\nThe report of the checker on the right rule:\n   " + to_string(right));
  to.say(
      "The end of its report on the wrong rule (2.82843 is sqrt(8)):\n   " + cause +
      "\nThe report cannot know which of the two it is. Without the factor 1/sqrt(8) the gradient "
      "is sqrt(8) times the true one. A factor sqrt(8) that is applied twice would look the "
      "same.\n");
  to.claim(right.ok && !wrong.ok,
           "the right rule passes the gradient check, the wrong one does not");
  to.claim(cause.find("1/sqrt(8)") != std::string::npos, "the report names the factor 1/sqrt(8)");
  to.claim(!blind.ok,
           "fledge refuses the check of the plain sum: a wrong factor would not show there");
}

void lesson(Lesson& to) {
  steps(to);
  dual_numbers(to);
  planted_bug(to);
}

/// The derivative of exp at 1 by a step of 10^-decade.
void with_step(Lesson& to, double decade) {
  const double h = std::pow(10, -decade);
  for (const int points : {2, 4, 6})
    to.say(formatted("%d points, h = %.0e: error %.0e", points, h, error_of(points, h)));
  to.say("Near u^(1/3), u^(1/5) and u^(1/7), with u = 2.2e-16, the errors are smallest.");
}

/// The three valleys: error against step, both as powers of ten.
Svg picture() {
  Svg svg(620, 400);
  svg.text(20, 24, "Error of a derivative by finite differences", Svg::Anchor::start, 14);
  const auto x_of = [](double decade) { return 60 + 42 * (12 - decade); };
  const auto y_of = [](double power) { return 60 - 19 * power; };
  for (int power = -15; power <= 0; power += 5) {
    svg.line(60, y_of(power), 560, y_of(power), "#dddddd");
    svg.text(52, y_of(power) + 4, formatted("1e%d", power), Svg::Anchor::end, 11);
  }
  for (int decade = 1; decade <= 12; decade += 2)
    svg.text(x_of(decade), 372, formatted("1e-%d", decade), Svg::Anchor::middle, 11);
  svg.text(310, 392, "step h: short on the left, long on the right", Svg::Anchor::middle, 12);
  for (std::size_t i = 0; i < 3; ++i) {
    const int points = 2 * static_cast<int>(i) + 2;
    std::vector<std::pair<double, double>> curve;
    for (int quarter = 4; quarter <= 48; ++quarter) {
      const double decade = quarter / 4.0;
      curve.emplace_back(x_of(decade), y_of(std::log10(error_of(points, std::pow(10, -decade)))));
    }
    svg.curve(curve, support::svg_colours()[i]);
    svg.text(x_of(1) + 8, curve.front().second + 4, formatted("%d points", points),
             Svg::Anchor::start, 11, support::svg_colours()[i]);
  }
  return svg;
}

}  // namespace
}  // namespace fledge

int main(int argc, char** argv) {
  return support::run_lesson(
      argc, argv,
      {.name = "engine/03_gradient_check",
       .title = "A check of gradients that really finds mistakes",
       .question =
           "A gradient rule is written by hand, so it can be wrong. How can a program find that "
           "out?",
       .prediction =
           "A derivative is estimated with a step of 0.1, of 0.00001 or of 0.000000000001. Which "
           "of the three steps gives the smallest error?",
       .body = fledge::lesson,
       .reading = {{"engine/gradcheck/gradcheck.h", "gradcheck",
                    "what is compared, and the limits"},
                   {"engine/gradcheck/oracle.cpp", "six_point_difference",
                    "finite differences and dual numbers"},
                   {"engine/gradcheck/diagnosis.h", "cause",
                    "from a pattern of errors to a likely cause"}},
       .plays = {{.option = "--decade",
                  .value = "5",
                  .help = "the three errors for the step 10^-5",
                  .limits = {1, 15},
                  .with_number = fledge::with_step}},
       .picture = fledge::picture});
}
