// Is attention linear? With fixed weights yes; with weights computed from the words, no.
//
// Works out note 000, items 18 to 22, 37 and 39: sums of one, two and three terms, and whether they
// are like the interaction terms of a regression. Key idea: a sum of terms has no interaction. It
// comes from the weights, because these are computed from the same words.
// Next: 17_attention_and_mlp, where a mixture is not enough; engine/ops/softmax.cpp.
#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "engine/autograd.h"
#include "examples/lessons/lesson_page.h"
#include "examples/lessons/tensors.h"
#include "examples/support/table.h"
#include "nn/layers/attention.h"

namespace fledge {
namespace {

using support::formatted, support::Lesson, support::Svg, support::Table;

const double root = std::sqrt(3.0);

/// v1, v2 and v3 of note 000, as in examples/birds/by_hand.cpp, which computes in float.
Tensor vectors() { return Array({3, 3}, {0.1, 0.2, 0.3, -0.8, 0.3, -0.1, 0.5, -0.1, -0.4}); }
// Two changes: 'birds' moves by d, 'walk' by e.
Tensor d() { return Array({1, 3}, {0.6, -0.3, -0.6}); }
Tensor e() { return Array({1, 3}, {0.3, 0.5, -0.2}); }

std::string digits(const Tensor& x, const char* format = "%7.4f %7.4f %7.4f") {
  std::vector<double> n = numbers(x);
  for (double& number : n) number = std::abs(number) < 1e-12 ? 0 : number;  // -0.0000 is 0
  return formatted(format, n[0], n[1], n[2]);
}

/// All weights, (3, 3), computed from the words: W_Q and W_K are the identity matrix. The scores are
/// multiplied by `scale` more.
Tensor weights(const Tensor& X, double scale = 1) {
  return softmax(scale * attention_scores(X, X, causal()) / root, causal());
}

/// The words, with 'birds' moved by t·d and 'walk' by u·e.
Tensor moved(double t, double u) {
  return vectors() + concat({t * d(), Tensor(Array::zeros({1, 3})), u * e()}, 0);
}

/// v3' = Σ_j a_j x_j for these words, (1, 3). The weights are those of the words before they moved.
Tensor with_fixed_weights(double t, double u) {
  return row(matmul(weights(vectors()), moved(t, u)), 2);
}
/// The same with the weights of the moved words.
Tensor with_computed_weights(double t, double u, double scale = 1) {
  const Tensor X = moved(t, u);
  return row(matmul(weights(X, scale), X), 2);
}

/// What is left of the change by both, after the changes by each alone are taken off.
Tensor left_over(double size, double scale = 1) {
  return with_computed_weights(size, size, scale) - with_computed_weights(size, 0, scale) -
         with_computed_weights(0, size, scale) + with_computed_weights(0, 0, scale);
}

void two_changes(Lesson& to) {
  const Tensor V = vectors(), A = weights(V);
  const std::vector<double> a = numbers(A);
  to.part("Two changes at once");
  to.say(
      "As in lesson 02, 'birds' is v1 = (0.1, 0.2, 0.3), 'sometimes' is v2 = (-0.8, 0.3, -0.1) and "
      "'walk' is v3 = (0.5, -0.1, -0.4). W_Q, W_K and W_V are the identity matrix. So the weights "
      "of word i are the softmax of the scores v_i.v_j / sqrt(3). The causal mask leaves one term "
      "for the first word, two for the second, three for the third:\n");
  to.show(formatted("      v1' = %.4f v1\n", a[0]) +
          formatted("      v2' = %.4f v1 + %.4f v2\n", a[3], a[4]) +
          formatted("      v3' = %.4f v1 + %.4f v2 + %.4f v3\n", a[6], a[7], a[8]));
  to.define(
      "linear map",
      "A function in which each result is a sum of the inputs, each multiplied by a fixed number.");
  to.say(
      "With fixed weights attention is a linear map of the words, and the changes of a linear map "
      "add up. But in attention the weights are computed from the words. So a change of a word "
      "changes the weights, too. We test both. 'birds' moves by d = (0.6, -0.3, -0.6), and 'walk' "
      "by e = (0.3, 0.5, -0.2). The table has the change of v3', rounded. 'Left over' is the "
      "change by both at once, minus the sum of the two changes.\n");
  const Tensor start = with_fixed_weights(0, 0);  // the same for both kinds of weights
  const Tensor fixed_d = with_fixed_weights(1, 0) - start,
               d_alone = with_computed_weights(1, 0) - start;
  const Tensor fixed_e = with_fixed_weights(0, 1) - start,
               e_alone = with_computed_weights(0, 1) - start;
  const Tensor fixed_both = with_fixed_weights(1, 1) - start,
               both = with_computed_weights(1, 1) - start;
  const Tensor fixed_left = fixed_both - fixed_d - fixed_e;
  Table table({{"   what changes"}, {"fixed weights"}, {"computed weights"}});
  table.row({"   'birds' by d", digits(fixed_d), digits(d_alone)});
  table.row({"   'walk' by e", digits(fixed_e), digits(e_alone)});
  table.row({"   sum of these two", digits(fixed_d + fixed_e), digits(d_alone + e_alone)});
  table.row({"   both at once", digits(fixed_both), digits(both)});
  table.row({"   left over", digits(fixed_left), digits(left_over(1))});
  to.show(table.text());
  to.define("interaction",
            "The change by two inputs together, minus the changes by each input alone.");
  const double left = largest(left_over(1));
  to.say(
      formatted(
          "With fixed weights the changes are %.4f d and %.4f e. They add up exactly. With "
          "computed weights something is left over, up to %.4f without its sign: an interaction. ",
          a[6], a[8], left) +
      "So with computed weights attention is not linear. If you predicted yes for fixed weights "
      "and no for computed weights, you were right.");
  to.claim(largest(fixed_left) < 1e-15, "fixed weights: nothing is left over");
  to.claim(left > 0.01, formatted("computed weights: the largest number left over is %.4f", left));
  to.say(
      "\nThe sum has one term for each word. The formula of note 000 stops after d_k terms, where "
      "d_k is the size of a key. Suppose vectors have only two numbers, so d_k = 2, and take the "
      "weights 0.6, 0.1 and 0.4 of the note. (They add up to 1.1, see lesson 02. Here only the "
      "number of terms matters.) Two terms give 0.6 x 0.1 + 0.1 x (-0.8) = -0.02. But there are "
      "three words, and the third adds 0.4 x 0.5:");
  const double two = 0.6 * numbers(V)[0] + 0.1 * numbers(V)[3], third = 0.4 * numbers(V)[6];
  to.slip(
      "000", "\\hat{v}_{i,j} = \\sum_{k=1}^{d_k} a_{i,k} v_{k,j}",
      formatted("for d_k = 2: v_31' = %.2f by d_k terms, %.2f by n = 3 terms", two, two + third),
      "a row of A has a weight for each of the n words; in the note n and d_k are both 3");
}

void two_parts_of_a_change(Lesson& to) {
  const Tensor V = vectors(), v1 = row(V, 0), v3 = row(V, 2), after = with_computed_weights(0, 0);
  to.part("Where the interaction comes from");
  to.say(
      "Let only 'birds' move, by h d, where h is a small number. v3' has the term a1 v1, a weight "
      "times a vector. Both change, so the change has two parts.\nBy the value: v1 changes by h d, "
      "and a1 v1 by h a1 d. By the weights: the score of 'birds' changes by r = h v3.d / sqrt(3). "
      "In lesson 07 such a change of one score changed the mean G by r a1 (u1 - G), nearly, with "
      "the changes of all three weights counted. The same rule holds for the mean v3', with v1 in "
      "place of u1. The last row checks the sum of both parts by moving 'birds' a little.\n");
  const double a1 = numbers(weights(V))[6], h = 1e-4;
  const Tensor by_value = a1 * d();
  const Tensor by_weights = a1 * (sum(v3 * d()) / root) * (v1 - after);
  const Tensor difference = (with_computed_weights(h, 0) - with_computed_weights(-h, 0)) / (2 * h);
  Table parts({{"   part"}, {"formula"}, {"change of v3' divided by h"}});
  parts.row({"   by the value", "a1 d", digits(by_value)});
  parts.row({"   by the weights", "a1 (v3.d / sqrt(3)) (v1 - v3')", digits(by_weights)});
  parts.row({"   sum", "", digits(by_value + by_weights)});
  parts.row({"   finite difference", formatted("h = %g", h), digits(difference)});
  to.show(parts.text());
  to.define("finite difference",
            "An estimate of a derivative: the change of a result divided by the small change of an "
            "input.");
  to.say(formatted(
      "Here v3.d = %.2f is positive. So the weight of 'birds' grows, the other two shrink. This "
      "part moves v3' toward v1. Both parts depend on 'walk': the second contains v3, and a1 is "
      "computed from v3.v1. So what a change of 'birds' does depends on what 'walk' is. That is "
      "the interaction.",
      sum(v3 * d()).item()));
  to.claim(
      largest(by_value + by_weights - difference) < 1e-7 && largest(by_value - difference) > 0.01,
      "the finite difference needs both parts");
}

std::string table_of_scales(const std::vector<double>& scales) {
  Table table = Table::of_numbers(
      {"   scores times", "weights of 'walk'", "after 'birds' + d", "d/10, e/10", "d and e"});
  for (const double scale : scales)
    table.row({formatted("   %g", scale),
               digits(row(weights(vectors(), scale), 2), "%.3f %.3f %.3f"),
               digits(row(weights(moved(1, 0), scale), 2), "%.3f %.3f %.3f"),
               formatted("%.4f", largest(left_over(0.1, scale))),
               formatted("%.4f", largest(left_over(1, scale)))});
  return table.text();
}

void like_a_regression(Lesson& to) {
  to.part("Like a regression with indicator variables?");
  to.say(
      "Note 000 compares the terms to a linear regression with interaction terms and indicator "
      "variables. A linear regression predicts a number by b1 x1 + b2 x2. x1 and x2 are measured; "
      "b1 and b2 are fixed. An interaction term adds b12 x1 x2, where b12 is one more fixed "
      "number: a change of x1 then does more if x2 is large. In v3' the words are like x1 and x2, "
      "and the weights are like b1 and b2. No weight plays b12. But a1 is computed from v3.v1, so "
      "a1 v1 depends on a product of both words.");
  to.define("indicator variable", "A number that is 1 if something is the case, and 0 if not.");
  to.say(
      "In a one-hot row each weight is an indicator variable: 1 for the word that is looked at, 0 "
      "for the others. Weights become nearly one-hot if the scores are multiplied by a large "
      "number. The table has the weights of 'walk', before and after 'birds' moves by d. The last "
      "two columns have the largest number left over, without its sign: for the changes d/10 and "
      "e/10, and for d and e.\n");
  to.show(table_of_scales({0, 1, 100}));
  to.say(
      "With scores times 0 the weights cannot move, and nothing is left over. With scores times "
      "100, 'walk' looks at itself, and a small change does not alter that. So nothing is left "
      "over for d/10 and e/10. With all of d, 'birds' gets 0.97. The weights are quite different, "
      "and the changes do not add up. Ordinary weights are between 0 and 1, like soft indicators.");
  to.say(
      "The note asks whether this comparison goes too far ('Is this thought too clever by half?'). "
      "It is partly right. There are interactions, and weights like indicators. But the three "
      "terms do not make them; the weights do.");
  to.claim(largest(left_over(1, 0)) < 1e-15 && largest(left_over(0.1, 100)) < 1e-9 &&
               largest(left_over(1, 100)) > 0.1,
           "nothing is left over if the weights do not move");
}

void with_scale(Lesson& to, double scale) {
  to.say("The weights of 'walk', before and after 'birds' moves by d. Then what is left over.\n");
  to.show(table_of_scales({scale}));
  to.say("See whether the weights move. If they stay, the changes add up.");
}

Svg picture() {
  Svg svg(700, 460);
  svg.text(20, 24, "Is attention linear? The first number of v3' while 'birds' moves by t times d",
           Svg::Anchor::start, 14);
  const double left = 70, bottom = 390, width = 420, height = 330, highest = 1.4;
  const auto point = [&](double t, double y) {
    return std::pair{left + width * t / 2, bottom - height * y / highest};
  };
  for (const double y : {0.0, 0.5, 1.0}) {
    svg.line(left, point(0, y).second, left + width, point(0, y).second, "#dddddd");
    svg.text(left - 8, point(0, y).second + 4, formatted("%.1f", y), Svg::Anchor::end);
  }
  for (const double t : {0.0, 1.0, 2.0})
    svg.text(point(t, 0).first, bottom + 18, formatted("%.0f", t), Svg::Anchor::middle);
  svg.text(left + width / 2, bottom + 36, "t: how far 'birds' has moved", Svg::Anchor::middle);
  const std::vector<double> scales{0, 1, 10, 100};  // 0: fixed weights
  for (std::size_t n = 0; n < scales.size(); ++n) {
    std::vector<std::pair<double, double>> points;
    for (int i = 0; i <= 200; ++i) {
      const double t = i / 100.0;
      const Tensor walk =
          n == 0 ? with_fixed_weights(t, 0) : with_computed_weights(t, 0, scales[n]);
      points.push_back(point(t, numbers(walk)[0]));
    }
    const std::string& ink = support::svg_colours()[n];
    svg.curve(points, ink, 2.5);
    svg.text(520, 100 + 22 * static_cast<double>(n),
             n == 0 ? "fixed weights" : formatted("scores times %g", scales[n]), Svg::Anchor::start,
             12, ink);
  }
  svg.text(
      20, 450,
      "Fixed weights give a line. Large scores give two straight pieces, and a steep step between.");
  return svg;
}

void lesson(Lesson& to) {
  two_changes(to);
  two_parts_of_a_change(to);
  like_a_regression(to);
}

}  // namespace
}  // namespace fledge

int main(int argc, char** argv) {
  return support::run_lesson(
      argc, argv,
      {.name = "attention/16_terms_that_interact",
       .title = "Is attention linear? Terms that interact",
       .question =
           "'walk' after attention is a sum of three terms, one for each word. If two words change "
           "at once, do their changes add up?",
       .prediction =
           "v3' is 'walk' after attention. The vector of 'birds' changes, and so v3' changes. Then "
           "'birds' is as before, and 'walk' changes. Then both change at once. Is the last change "
           "of v3' the sum of the first two? Write down yes or no: if the weights are fixed "
           "numbers, and if they are computed from the words.",
       .body = fledge::lesson,
       .reading = {{"nn/layers/attention.cpp", "attend", "the weights and the sum, in five lines"},
                   {"engine/ops/softmax.cpp", "softmax", "the rule of the second part"}},
       .plays = {{.option = "--scale",
                  .value = "30",
                  .help = "the scores times another number: how large is what is left over?",
                  .limits = {0, 10000},
                  .with_number = fledge::with_scale}},
       .picture = fledge::picture});
}
