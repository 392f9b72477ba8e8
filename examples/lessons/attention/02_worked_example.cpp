// The worked example: 'birds sometimes walk', every number by hand.
//
// Works out items 000.1 to 000.14 and the row sum of 000.5 in examples/NOTES.md.
// Key idea: the new vector of a word is a weighted sum, v3' = a31·v1 + a32·v2 + a33·v3. Its dot
// product with v1 is the same weighted sum of the numbers vj·v1, so no row with weights from 0 to 1
// that add up to 1 gives more than the largest of them.
// Next: 03_one_head; examples/birds/by_hand.cpp, which computes the same with the engine.
#include <algorithm>
#include <array>
#include <cmath>
#include <sstream>
#include <string>

#include "examples/birds/by_hand.h"
#include "examples/lessons/attention/triangle.h"
#include "examples/lessons/lesson_page.h"
#include "examples/support/table.h"
#include "examples/support/text.h"

namespace fledge {
namespace {

using support::formatted, support::Lesson, support::Table;

using Three = std::array<double, 3>;
constexpr std::array<Three, 3> V{{{0.1, 0.2, 0.3},      // v1: birds
                                  {-0.8, 0.3, -0.1},    // v2: sometimes
                                  {0.5, -0.1, -0.4}}};  // v3: walk
constexpr std::array<Three, 3> A{{{1.0, 0.0, 0.0},      // row i: how much word i takes of each word
                                  {0.1, 0.9, 0.0},      //
                                  {0.6, 0.1, 0.4}}};
const char* const words[] = {"birds", "sometimes", "walk"};

double dot(const Three& x, const Three& y) { return x[0] * y[0] + x[1] * y[1] + x[2] * y[2]; }
double length(const Three& x) { return std::sqrt(dot(x, x)); }
double cosine(const Three& x, const Three& y) {  // of a vector of zeros: taken as 0
  const double lengths = length(x) * length(y);
  return lengths > 0 ? dot(x, y) / lengths : 0;
}
double distance(const Three& x, const Three& y) {
  return length({x[0] - y[0], x[1] - y[1], x[2] - y[2]});
}

/// Σ_j a_j·v_j, number by number
Three mixed(const Three& a) {
  Three v{};
  for (std::size_t c = 0; c < 3; ++c) v[c] = a[0] * V[0][c] + a[1] * V[1][c] + a[2] * V[2][c];
  return v;
}

double total(const Three& a) { return a[0] + a[1] + a[2]; }
Three divided(const Three& a, double by) { return {a[0] / by, a[1] / by, a[2] / by}; }
bool near(double x, double y) { return std::abs(x - y) < 1e-12; }

std::string digits(const char* format, const Three& x) {
  return formatted(format, x[0], x[1], x[2]);
}

/// Distance, cosine and dot product of 'walk' and v1, before and after attention.
std::string three_measures(const Three& after) {
  Table table({{"measure"}, {"v3 and v1 (before)"}, {"v3' and v1 (after)"}});
  const auto row = [&](const char* name, double (*measure)(const Three&, const Three&)) {
    table.row(
        {name, formatted("%6.3f", measure(V[2], V[0])), formatted("%6.3f", measure(after, V[0]))});
  };
  row("distance", distance);
  row("cosine", cosine);
  row("dot product", dot);
  return table.text();
}

void nine_products(Lesson& to) {
  to.part("Nine products, three sums");
  to.say(
      "Our text has sentences in which birds walk, and others in which birds fly. In this "
      "sentence, attention should bring 'walk' closer to 'birds'. The vectors and the weights are "
      "set by hand. They are from note 000, one of the source notes. Five people who learned "
      "attention wrote these; examples/NOTES.md retells them.");
  to.define("row of attention", "All weights that one word gives in a text.");
  Table table({{"word"}, {"vector"}, {"weight of 'birds'"}, {"of 'sometimes'"}, {"of 'walk'"}});
  for (std::size_t i = 0; i < 3; ++i)
    table.row({words[i], formatted("v%d = ", int(i) + 1) + digits("(%4.1f, %4.1f, %4.1f)", V[i]),
               formatted("%.1f", A[i][0]), formatted("%.1f", A[i][1]), formatted("%.1f", A[i][2])});
  to.show("\n" + table.text());
  to.say(
      "A word looks only at itself and earlier words; a later word gets 0. In lesson 1 the weights "
      "of a word add up to 1. The row of 'walk' in the note adds up to 1.1; part 3 repairs it.\nWe "
      "call the new vector of 'walk' v3', read: v3 dash. It is the weighted sum 0.6 v1 + 0.1 v2 + "
      "0.4 v3, and it replaces v3, as in part 1 of lesson 1. Each number of v3' takes three "
      "products:\n");
  const Three after = mixed(A[2]);
  for (std::size_t c = 0; c < 3; ++c) {
    std::string products, terms;
    for (std::size_t j = 0; j < 3; ++j) {
      const double term = A[2][j] * V[j][c];
      products += formatted(j == 0 ? "%.1f * %.1f" : " + %.1f * %.1f", A[2][j], V[j][c]);
      terms += (j == 0 ? "" : term < 0 ? " - " : " + ") + formatted("%.2f", std::abs(term));
    }
    to.show("   " + support::pad_right(products, 36) + " = " + terms +
            formatted(" = %.2f", after[c]));
  }
  to.say("\nSo v3' = (0.18, 0.11, 0.01). If you predicted 0.18, you were right.");
  to.claim(distance(after, {0.18, 0.11, 0.01}) < 1e-12 &&
               distance(after, birds::compute_by_hand().v_hat) < 1e-6,
           "v3' = (0.18, 0.11, 0.01); fledge, the program of this course, agrees");
}

void closer_or_not(Lesson& to) {
  to.part("Is 'walk' closer to 'birds' now?");
  to.define("dot product",
            "The sum of the products of the numbers of two vectors, place by place.");
  to.define("association",
            "How well two words fit: here the dot product or the cosine of their vectors.");
  const Three after = mixed(A[2]);
  to.say("The dot product is written with a point: v3'.v1. Read: v3 dash dot v1.");
  to.show(
      "   v3.v1  = 0.5 * 0.1 - 0.1 * 0.2 - 0.4 * 0.3    = 0.05 - 0.02 - 0.12    = -0.09\n   v3'.v1 "
      "= 0.18 * 0.1 + 0.11 * 0.2 + 0.01 * 0.3 = 0.018 + 0.022 + 0.003 = 0.043");
  to.say(
      "The cosine divides the dot product by both lengths. The length of v1 is sqrt(0.01 + 0.04 + "
      "0.09) = 0.374, of v3 sqrt(0.25 + 0.01 + 0.16) = 0.648, of v3' sqrt(0.0324 + 0.0121 + "
      "0.0001) = 0.211. So the cosine is -0.09 / (0.648 * 0.374) = -0.371 before attention, and "
      "0.043 / (0.211 * 0.374) = 0.544 after.\nThe distance is the length of the difference. "
      "Before: v3 - v1 = (0.4, -0.3, -0.7), and sqrt(0.16 + 0.09 + 0.49) = 0.860. After: v3' - v1 "
      "= (0.08, -0.09, -0.29), and sqrt(0.0064 + 0.0081 + 0.0841) = 0.314.\n");
  to.show(three_measures(after));
  to.say("The distance falls, the other two rise: by all three 'walk' came closer.");
  to.define("control",
            "A second measurement of something that should change little or not at all; if it "
            "changes as much, the first change proves nothing.");
  to.say(
      "Our control is 'sometimes', which gets only 0.1 of the weight. But its dot product rises "
      "even more, from v3.v2 = -0.390 to\n   v3'.v2 = 0.6 v1.v2 + 0.1 v2.v2 + 0.4 v3.v2\n          "
      "= -0.030 + 0.074 - 0.156 = -0.112\nIts cosine rises too, and its distance falls. So the "
      "answer to your prediction: 'walk' comes closer to 'sometimes' as well. v3 is now multiplied "
      "by 0.4, so its negative part is smaller: -0.156 in place of -0.390. So a rise does not yet "
      "show that attention brought 'walk' to 'birds' in particular. The sign after attention tells "
      "the two words apart: with 'birds' the dot product is positive, an angle below 90 degrees; "
      "with 'sometimes' it is still negative.");
  const auto rounds_to = [](double x, double y) { return std::abs(x - y) <= 0.0005; };
  to.claim(near(dot(V[2], V[0]), -0.09) && near(dot(after, V[0]), 0.043) &&
               rounds_to(cosine(V[2], V[0]), -0.371) && rounds_to(cosine(after, V[0]), 0.544) &&
               rounds_to(distance(V[2], V[0]), 0.86) && rounds_to(distance(after, V[0]), 0.314),
           "all three measures for 'birds' are as computed above");
  to.claim(near(dot(V[2], V[1]), -0.39) && near(dot(after, V[1]), -0.112) &&
               near(0.6 * dot(V[0], V[1]), -0.03) && near(0.1 * dot(V[1], V[1]), 0.074) &&
               near(0.4 * dot(V[2], V[1]), -0.156) && cosine(after, V[1]) > cosine(V[2], V[1]) &&
               distance(after, V[1]) < distance(V[2], V[1]),
           "the control comes closer by all three measures; its dot product stays negative");
}

void triangle_of_rows(Lesson& to) {
  to.part("All possible rows: a triangle");
  const Three legal = divided(A[2], total(A[2]));
  to.say(
      "In a legal row no weight is below 0, and the weights add up to 1. The row 0.6, 0.1, 0.4 is "
      "not legal. Divided by its sum 1.1 it is 0.545, 0.091, 0.364. Then v3' and v3'.v1 are "
      "divided by 1.1 too. The cosine does not change, because it compares only directions.\nThe "
      "three weights of a row are the coordinates of a point. The points of all legal rows fill a "
      "triangle. At each corner one word has all the weight.\nFor all vectors (a + b).c = a.c + "
      "b.c. So v3'.v1 is a weighted sum of three numbers: v1.v1 = 0.14, v2.v1 = -0.05 and v3.v1 = "
      "-0.09. For the divided row:\n   (0.6 * 0.14 - 0.1 * 0.05 - 0.4 * 0.09) / 1.1 = 0.043 / 1.1 "
      "= 0.039\n");
  Table table({{"'birds'"}, {"'sometimes'"}, {"'walk'"}, {"v3'.v1"}, {"point"}});
  const auto point = [&](const Three& a, const char* name) {
    const double product = std::round(1000 * dot(mixed(a), V[0])) / 1000 + 0.0;  // no "-0.000"
    table.row({formatted("%.3f", a[0]), formatted("%.3f", a[1]), formatted("%.3f", a[2]),
               formatted("%6.3f", product), name});
  };
  point({1, 0, 0}, "corner 'birds'");
  point({0, 1, 0}, "corner 'sometimes'");
  point({0, 0, 1}, "corner 'walk', as before attention");
  point({1 / 3., 1 / 3., 1 / 3.}, "the middle");
  point(legal, "the row of the example, divided by 1.1");
  to.show(table.text());
  to.say(
      "With legal weights this sum is never larger than the largest number in it, 0.14. The best "
      "row is a corner: all the weight on 'birds'.");
  double largest = -1;
  int rows = 0, best = -1;  // the weights in hundredths
  for (int i = 0; i <= 100; ++i)
    for (int j = 0; i + j <= 100; ++j, ++rows) {
      const double product = dot(mixed({i / 100., j / 100., (100 - i - j) / 100.}), V[0]);
      if (product > largest) largest = product, best = i;
    }
  to.claim(best == 100 && near(largest, 0.14),
           formatted("of %d legal rows in hundredths, 'birds' alone gives the most: 0.14", rows));
  to.claim(near(dot(mixed(legal), V[0]), 0.043 / 1.1) &&
               near(cosine(mixed(legal), V[0]), cosine(mixed(A[2]), V[0])),
           "divided by 1.1, the row gives 0.0391 and the same cosine, 0.544");
  to.define("matrix", "A table of numbers in rows and columns.");
  to.say("The matrix A of the note has the three rows of attention.");
  to.define("slip", "A mistake in one of the source notes, quoted with its reason.");
  to.slip(
      "000", "a reasonably good attention A matrix trained",
      formatted("row 3 adds up to %.1f; divided by 1.1, it gives v3'.v1 = %.3f in place of %.3f",
                total(A[2]), dot(mixed(legal), V[0]), dot(mixed(A[2]), V[0])),
      "the attention weights of a word add up to 1");
  to.slip("000", "bird is paying more attention to walk",
          formatted("'walk' gives 'birds' %.1f, 'birds' gives 'walk' %.1f", A[2][0], A[0][2]),
          "row 3 is the row of 'walk'; 'birds' does not see later words");
}

void lesson(Lesson& to) {
  nine_products(to);
  closer_or_not(to);
  triangle_of_rows(to);
}

/// --row "0.2,0.3,0.5"
void try_row(Lesson& to, const std::string& text) {
  Three a{};
  std::istringstream parts(text);
  std::string part, rest;
  bool read = true;
  for (double& weight : a) {
    std::getline(parts, part, ',');
    read = read && support::number_variable(weight, {-100, 100}).set(part).empty();
    part.clear();
  }
  if (!read || std::getline(parts, rest))
    support::refuse_usage(
        "--row needs three numbers from -100 to 100, and has " + support::quoted(text),
        "write --row 0.2,0.3,0.5");
  const Three after = mixed(a);
  to.say(digits("'walk' gives 'birds' %.3g, 'sometimes' %.3g and itself %.3g.", a) +
         digits(" Its new vector is v3' = (%.3f, %.3f, %.3f).\n", after));
  to.show(three_measures(after));
  const bool legal = std::min({a[0], a[1], a[2]}) >= 0 && std::abs(total(a) - 1) < 1e-6;
  to.say(legal
             ? "The row is legal. Find a legal row with v3'.v1 = 0, and the one with the smallest."
             : formatted("The row is not legal: a weight is below 0, or the sum, %.3g, is not 1. "
                         "Such a row can go above 0.14.",
                         total(a)));
}

/// The triangle of rows, with lines of equal v3'.v1 and the row of the example.
support::Svg picture() {
  support::Svg svg(700, 500);
  svg.text(20, 30, "Every legal row of 'walk' is a point in this triangle",
           support::Svg::Anchor::start, 17);
  svg.text(20, 50, "On a dashed line v3'.v1, the association with 'birds', is everywhere the same");
  Triangle triangle(svg, 130, 460, 420);
  for (int level = -8; level <= 12; level += 2) triangle.contour(level / 100.0);
  const Three legal = divided(A[2], total(A[2]));
  triangle.dot(legal, support::svg_colours()[0],
               formatted("the example: %.3f", dot(mixed(legal), V[0])));
  return svg;
}

}  // namespace
}  // namespace fledge

int main(int argc, char** argv) {
  return support::run_lesson(
      argc, argv,
      {.name = "attention/02_worked_example",
       .title = "The worked example: 'birds sometimes walk', every number by hand",
       .question =
           "What does attention do to the numbers of a word, and does it bring 'walk' closer to "
           "'birds'?",
       .prediction =
           "'walk' takes 0.6 of 'birds' (0.1, 0.2, 0.3), 0.1 of 'sometimes' (-0.8, 0.3, -0.1) and "
           "0.4 of its own (0.5, -0.1, -0.4). What is the first of its new numbers? And does "
           "'walk' come closer to 'sometimes' too, or move away from it?",
       .body = fledge::lesson,
       .reading = {{"examples/birds/by_hand.cpp", "compute_by_hand", "the same with fledge"},
                   {"engine/ops.h", "matmul", "the weighted sums of all words at once"}},
       .plays = {{.option = "--row",
                  .value = "0.2,0.3,0.5",
                  .help = "another row for 'walk': its new vector and the three measures",
                  .with_text = fledge::try_row}},
       .picture = fledge::picture});
}
