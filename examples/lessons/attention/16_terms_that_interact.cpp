// Is attention linear? With fixed weights yes; with weights computed from the words, no.
//
// Works out note 000, items 18 to 22, 37 and 39: sums of one, two and three terms, and whether they
// are like the interaction terms of a regression. Key idea: a sum of terms has no interaction. It
// comes from the weights, because these are computed from the same words.
// Next: 17_attention_and_mlp, where a mixture is not enough; engine/ops/softmax.cpp.
#include <algorithm>
#include <cmath>
#include <functional>
#include <string>
#include <vector>

#include "engine/autograd.h"
#include "examples/lessons/lesson_page.h"
#include "examples/support/table.h"
#include "nn/layers/attention.h"

namespace fledge {
namespace {

using support::formatted, support::Lesson, support::Svg, support::Table;
using Numbers = std::vector<double>;

const double root = std::sqrt(3.0);

/// v1, v2 and v3 of note 000, as in examples/birds/by_hand.cpp, which computes in float.
Tensor vectors() { return Array({3, 3}, {0.1, 0.2, 0.3, -0.8, 0.3, -0.1, 0.5, -0.1, -0.4}); }
// Two changes: 'birds' moves by d, 'walk' by e.
Tensor d() { return Array({1, 3}, {0.6, -0.3, -0.6}); }
Tensor e() { return Array({1, 3}, {0.3, 0.5, -0.2}); }

Tensor row(const Tensor& x, Dim i) { return slice(x, 0, i, i + 1); }
Numbers numbers(const Tensor& x) { return to_vector(x.value()); }
double largest(const Tensor& x) { return std::max(max(x).item(), max(-x).item()); }
std::string digits(const char* format, const Tensor& x) {
  Numbers n = numbers(x);
  for (double& number : n) number = std::abs(number) < 1e-12 ? 0 : number;  // -0.0000 is 0
  return formatted(format, n[0], n[1], n[2]);
}

/// All weights, (3, 3), computed from the words: W_Q and W_K are the identity matrix. The scores are
/// multiplied by `scale` more.
Tensor weights(const Tensor& X, double scale = 1) {
  return softmax(scale * attention_scores(X, X, causal()) / root, causal());
}

/// 'walk' after attention, v3', (1, 3).
using Walk = std::function<Tensor(const Tensor& X)>;
Tensor with_fixed_weights(const Tensor& X) { return row(matmul(weights(vectors()), X), 2); }
Walk with_computed_weights(double scale = 1) {
  return [scale](const Tensor& X) { return row(matmul(weights(X, scale), X), 2); };
}

/// The words with 'birds' moved by t·d and 'walk' by u·e.
Tensor moved(double t, double u) {
  return vectors() + concat({t * d(), Tensor(Array::zeros({1, 3})), u * e()}, 0);
}

/// What is left of the change by both, after the changes by each alone are taken off.
Tensor left_over(const Walk& walk, double size = 1) {
  return walk(moved(size, size)) - walk(moved(size, 0)) - walk(moved(0, size)) + walk(moved(0, 0));
}

std::string table_of_changes(const Walk& walk) {
  const char* const format = "%7.4f %7.4f %7.4f";
  const Tensor start = walk(vectors()), one = walk(moved(1, 0)) - start;
  const Tensor other = walk(moved(0, 1)) - start, both = walk(moved(1, 1)) - start;
  Table table({{"what changes"}, {"change of v3'"}});
  table.row({"'birds' by d", digits(format, one)});
  table.row({"'walk' by e", digits(format, other)});
  table.row({"the sum of these two", digits(format, one + other)});
  table.row({"both at once", digits(format, both)});
  table.row({"left over", digits(format, both - one - other)});
  return table.text();
}

void fixed_weights(Lesson& to) {
  const Tensor V = vectors(), A = weights(V);
  const auto a = [&](Dim i, Dim j) { return value_of(A.value().at({i, j})); };
  to.part("Fixed weights: a linear map");
  to.say(
      "'birds', 'sometimes' and 'walk' have the vectors v1, v2 and v3 of lesson 02. The causal mask "
      "leaves one term for the first word, two for the second, three for the third:\n");
  to.show(formatted("      v1' = %.4f v1\n", a(0, 0)) +
          formatted("      v2' = %.4f v1 + %.4f v2\n", a(1, 0), a(1, 1)) +
          formatted("      v3' = %.4f v1 + %.4f v2 + %.4f v3\n", a(2, 0), a(2, 1), a(2, 2)));
  to.say(
      "Before attention, vector i depends on word i only. Now it depends on words 1 to i. The weights "
      "are those with which lesson 07 began. First we hold them fixed, as if they were given numbers.");
  to.define(
      "linear map",
      "A function in which each result is a sum of the inputs, each multiplied by a fixed number.");
  to.say(
      "With fixed weights attention is a linear map of the words. We test it. 'birds' moves by d = "
      "(0.6, -0.3, -0.6). 'walk' moves by e = (0.3, 0.5, -0.2).\n");
  to.show(table_of_changes(with_fixed_weights));
  to.say(
      formatted("The first row is %.4f d, the second is %.4f e. ", a(2, 0), a(2, 2)) +
      "The first change does not depend on 'walk', and the second does not depend on 'birds'. So they "
      "add up, and nothing is left over.\n");
  const Tensor two = matmul(A, moved(1, 0)) - matmul(A, V);
  to.claim(largest(left_over(with_fixed_weights)) < 1e-15, "fixed weights: nothing is left over");
  to.claim(largest(two - matmul(slice(A, 1, 0, 1), d())) < 1e-15,
           "if 'birds' moves by d, each word i moves by its weight a_i1 times d");

  const Tensor narrow = slice(V, 1, 0, 2);
  const Tensor note = Array({1, 3}, {0.6, 0.1, 0.4});  // the row of 'walk' in note 000
  const Tensor two_terms = matmul(slice(note, 1, 0, 2), slice(narrow, 0, 0, 2));
  to.say(
      "\nOne slip about this sum. It has one term for each word. The number of terms is not d_k, the "
      "size of a key. To see the difference, take the first two numbers of each vector, and the "
      "weights 0.6, 0.1 and 0.4 of note 000. Two terms give 0.6 x 0.1 + 0.1 x (-0.8). The third adds "
      "0.4 x 0.5.");
  to.slip("000", "v_i' is the sum of a_ij v_j over j = 1 ... d_k",
          formatted("for d_k = 2: v_31' = %.2f by d_k terms, %.2f by n = 3 terms",
                    numbers(two_terms)[0], numbers(matmul(note, narrow))[0]),
          "a row of A has a weight for each word; here n and d_k both happen to be 3");
}

void computed_weights(Lesson& to) {
  const Walk walk = with_computed_weights();
  const Tensor V = vectors(), v1 = row(V, 0), v3 = row(V, 2);
  to.part("Computed weights: an interaction");
  to.say(
      "In attention the weights are not fixed. They are computed from the words: the a_j are the "
      "softmax of the scores v3.v_j / sqrt(3). So each change also moves the weights. The same test:\n");
  to.show(table_of_changes(walk));
  to.define(
      "interaction",
      "What is left of the change by two inputs together, after the changes by each input alone "
      "are taken off.");
  const double left = largest(left_over(walk));
  to.say(
      formatted("Up to %.3f is left over: an interaction. So attention is not a linear map of the "
                "words. ",
                left) +
      "If you predicted that the changes add up in both cases: they do only if the weights do not "
      "move.");
  to.say(
      "Where does it come from? Let only 'birds' move, by a small multiple of d. v3' has the term a1 v1, "
      "a weight times a vector. Both change, so the change has two parts. The last row checks their "
      "sum: v3' for v1 + h d minus v3' for v1 - h d, divided by 2 h.\n");
  const double a1 = numbers(row(weights(V), 2))[0], ds = sum(v3 * d()).item() / root;
  const Tensor by_value = a1 * d(), by_weight = a1 * ds * (v1 - walk(V));
  const double h = 1e-4;
  const Tensor difference = (walk(moved(h, 0)) - walk(moved(-h, 0))) / (2 * h);
  const char* const format = "%7.4f %7.4f %7.4f";
  Table parts({{"part"}, {"formula"}, {"per unit of d"}});
  parts.row({"by the value", "a1 d", digits(format, by_value)});
  parts.row({"by the weights", "a1 (v3.d / sqrt(3)) (v1 - v3')", digits(format, by_weight)});
  parts.row({"sum", "", digits(format, by_value + by_weight)});
  parts.row({"finite difference", formatted("h = %g", h), digits(format, difference)});
  to.show(parts.text());
  to.define("finite difference",
            "An estimate of a derivative: the change of a result divided by the small change of an "
            "input.");
  to.say(
      "The second part is the rule of lesson 07. The score of 'birds' changes by v3.d / sqrt(3). Then "
      "'birds' takes weight from the mixture v3'. This part contains v3. So what a change of 'birds' "
      "does depends on what 'walk' is. That is the interaction.\n");
  const Tensor X = parameter(V.value().clone());
  backward(walk(X), e().value());
  to.claim(left > 0.01, formatted("computed weights: %.3f is left over", left));
  to.claim(
      largest(by_value + by_weight - difference) < 1e-7 && largest(by_value - difference) > 0.01,
      "the finite difference agrees with both parts together, not with the first alone");
  to.claim(std::abs(sum((by_value + by_weight) * e()).item() -
                    sum(row(Tensor(X.grad()), 0) * d()).item()) < 1e-15,
           "backward() gives the same: both parts along e");
}

const std::vector<double> shown_scales{0, 1, 10, 100};

std::string table_of_scales(const std::vector<double>& scales) {
  Table table({{"scores times", Table::Align::right},
               {"weights of 'walk'"},
               {"after 'birds' + d"},
               {"left: tenth"},
               {"left: all"}});
  for (const double scale : scales) {
    const Walk walk = with_computed_weights(scale);
    table.row({formatted("%g", scale), digits("%.3f %.3f %.3f", row(weights(vectors(), scale), 2)),
               digits("%.3f %.3f %.3f", row(weights(moved(1, 0), scale), 2)),
               formatted("%.4f", largest(left_over(walk, 0.1))),
               formatted("%.4f", largest(left_over(walk)))});
  }
  return table.text();
}

void like_a_regression(Lesson& to) {
  to.part("Like a regression? Straight pieces");
  to.say(
      "Note 000 compares the terms to a linear regression with interaction terms and indicator "
      "variables. A linear regression predicts a number by b1 x1 + b2 x2, with fixed b1 and b2. An "
      "interaction term adds b12 x1 x2: a change of x1 then does more if x2 is large.");
  to.define("indicator variable", "A number that is 1 if something is the case, and 0 if not.");
  to.say(
      "Attention has indicator variables. The mask is one: m_ij is 1 if word i may see word j, and "
      "v_i' is the sum of m_ij a_ij v_j. A one-hot row of weights is another: it is 1 for the word "
      "that is looked at.");
  to.say(
      "Weights become one-hot if the scores are large. So we multiply the scores. The table has the "
      "weights of 'walk', and its weights after 'birds' has moved by d. The last two columns have the "
      "largest number that is left over. The first is for a tenth of d and e, the second for all of d "
      "and e.\n");
  to.show(table_of_scales(shown_scales));
  to.say(
      "With scores times 0 the weights are an even split, and attention is linear. With scores times "
      "100 they are nearly one-hot. Small changes do not change the word that wins. So nothing is left "
      "over: v3' is simply v3, which is linear. But if 'birds' moves by d, then 'birds' wins, and v3' "
      "jumps to another linear piece.");
  to.say(
      "So in the limit of large scores attention is linear in pieces, and an indicator chooses the "
      "piece. With ordinary scores a weight is a soft indicator, between 0 and 1, and nothing is quite "
      "linear.");
  to.say(
      "Note 000 asks about this comparison: 'Is this thought too clever by half?' It is half right. "
      "Interactions and indicators are there. But the three terms do not make them. The weights "
      "do.\n");
  const Walk large = with_computed_weights(100);
  to.claim(largest(left_over(with_computed_weights(0))) < 1e-15,
           "scores times 0: nothing is left over");
  to.claim(largest(left_over(large, 0.1)) < 1e-9 && largest(left_over(large)) > 0.1,
           "scores times 100: nothing for small changes, more than 0.1 for the large ones");
  to.claim(largest(left_over(with_computed_weights(1), 0.1)) > 1e-4,
           "scores times 1: something is left over for small changes too");
}

void with_scale(Lesson& to, double scale) {
  to.say(
      "The columns: the weights of 'walk', at the start and after 'birds' has moved by d. Then what "
      "is left over of two changes, for a tenth of d and e, and for d and e.\n");
  to.show(table_of_scales({scale}));
  const bool is_one_hot = max(row(weights(vectors(), scale), 2)).item() > 0.999;
  to.say(is_one_hot
             ? "The weights are nearly one-hot. Small changes add up: they stay in one linear "
               "piece. Large changes need not."
         : scale < 0.1
             ? "The weights are nearly an even split, which no change moves. So the changes add up."
             : "The weights move with each change, so something is left over.");
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
  struct Curve {
    std::string name;
    Walk walk;
  };
  std::size_t n = 0;
  for (const Curve& curve : {Curve{"fixed weights", with_fixed_weights},
                             Curve{"scores times 1", with_computed_weights(1)},
                             Curve{"scores times 10", with_computed_weights(10)},
                             Curve{"scores times 100", with_computed_weights(100)}}) {
    std::vector<std::pair<double, double>> points;
    for (int i = 0; i <= 200; ++i)
      points.push_back(point(i / 100.0, numbers(curve.walk(moved(i / 100.0, 0)))[0]));
    const std::string& ink = support::svg_colours()[n];
    svg.curve(points, ink, 2.5);
    svg.text(520, 100 + 22 * static_cast<double>(n++), curve.name, Svg::Anchor::start, 12, ink);
  }
  svg.text(
      20, 450,
      "Fixed weights give a line. Large scores give two straight pieces, and a steep step between.");
  return svg;
}

void lesson(Lesson& to) {
  fixed_weights(to);
  computed_weights(to);
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
           "'walk' after attention is a sum of three terms, one for each word. If two words "
           "change at once, do their changes add up?",
       .prediction =
           "The vector of 'birds' changes, and v3' changes with it. Then only the vector of 'walk' "
           "changes. Then both change at once. Is the last change the sum of the first two? Write down "
           "yes or no: if the weights are fixed numbers, and if they are computed from the words.",
       .body = fledge::lesson,
       .reading = {{"nn/layers/attention.cpp", "attend", "the weights and the sum, in five lines"},
                   {"engine/ops/softmax.cpp", "softmax", "the rule of the second part"},
                   {"engine/masks.h", "Mask", "the mask as an indicator: may look, or may not"}},
       .plays = {{.option = "--scale",
                  .value = "30",
                  .help = "the scores times another number: how large is what is left over?",
                  .limits = {0, 10000},
                  .with_number = fledge::with_scale}},
       .picture = fledge::picture});
}
