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
double cosine(const Three& x, const Three& y) { return dot(x, y) / (length(x) * length(y)); }
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
      "We want 'walk' to come closer to 'birds' in this sentence. Each word has a vector of three "
      "numbers: v1 for 'birds', v2 for 'sometimes', v3 for 'walk'. The weights are set by hand.");
  to.define("row of attention", "The weights that one word gives to all words.");
  Table table({{"word"}, {"vector"}, {"its row: gives birds, sometimes, walk"}});
  for (std::size_t i = 0; i < 3; ++i)
    table.row({words[i], formatted("v%d = ", int(i) + 1) + digits("(%4.1f, %4.1f, %4.1f)", V[i]),
               digits("%.1f  %.1f  %.1f", A[i])});
  to.show("\n" + table.text());
  to.say(
      "A word looks only at itself and at earlier words, so 'birds' gives all its weight to itself. "
      "The row of 'walk' is 0.6, 0.1, 0.4. We call the new vector of 'walk' v3'. It is the sum 0.6 "
      "v1 + 0.1 v2 + 0.4 v3. Each number of v3' takes three products:\n");
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
  to.say("\nSo v3' = (0.18, 0.11, 0.01). If you predicted 0.18, you computed the first line.");
  to.claim(distance(after, {0.18, 0.11, 0.01}) < 1e-12, "v3' = (0.18, 0.11, 0.01)");
  to.claim(distance(after, birds::compute_by_hand().v_hat) < 1e-6,
           "fledge computes the same three numbers");
}

void closer_or_not(Lesson& to) {
  to.part("Is 'walk' closer to 'birds' now?");
  to.define("dot product",
            "The sum of the products of the numbers of two vectors, place by place.");
  to.define("association",
            "How well two words fit: here the dot product or the cosine of their vectors.");
  const Three after = mixed(A[2]);
  to.say(
      "The dot product is written with a point: v3.v1.\n"
      "   v3.v1  = 0.5 * 0.1 - 0.1 * 0.2 - 0.4 * 0.3    = 0.05 - 0.02 - 0.12\n"
      "   v3'.v1 = 0.18 * 0.1 + 0.11 * 0.2 + 0.01 * 0.3 = 0.018 + 0.022 + 0.003\n"
      "The cosine divides the dot product by both lengths. The distance is the length of the "
      "difference: v3 - v1 = (0.4, -0.3, -0.7), and sqrt(0.16 + 0.09 + 0.49) = 0.860.\n");
  to.show(three_measures(after));
  to.say("The distance falls and the other two rise. By all three measures 'walk' came closer.");
  to.define(
      "control",
      "A second measurement, of something that was not meant to change; if it changes too, the "
      "first change proves little.");
  to.say(
      "Our control is 'sometimes', which gets only 0.1 of the weight. Its dot product rises too: "
      "v3.v2 = -0.390, and v3'.v2 = -0.144 + 0.033 - 0.001 = -0.112. If you predicted that 'walk' "
      "moves away from 'sometimes', this is a surprise. The vector v3, which does not fit "
      "'sometimes', now counts only 0.4. And each word that is mixed in pulls the sum toward itself. "
      "So a rise alone proves little. The sign shows more: only the association with 'birds' becomes "
      "positive.");
  to.claim(near(dot(V[2], V[0]), -0.09) && near(dot(after, V[0]), 0.043),
           "the dot product with 'birds' rises from -0.09 to 0.043");
  to.claim(distance(after, V[0]) < distance(V[2], V[0]) && cosine(after, V[0]) > cosine(V[2], V[0]),
           "the distance to 'birds' falls, and the cosine rises");
  to.claim(near(dot(V[2], V[1]), -0.39) && near(dot(after, V[1]), -0.112),
           "the control rises too, from -0.390 to -0.112, and stays negative");
}

void triangle_of_rows(Lesson& to) {
  to.part("All possible rows: a triangle");
  const Three legal = divided(A[2], total(A[2]));
  to.say(
      "In a legal row no weight is below 0, and the weights add up to 1. The row above is not legal: "
      "0.6 + 0.1 + 0.4 = 1.1. Divided by 1.1 it is (0.545, 0.091, 0.364). Then v3' is "
      "divided by 1.1 as well, and v3'.v1 = 0.043 / 1.1 = 0.039. The cosine does not change.\n"
      "A row of three weights is a point in space. The legal rows fill a triangle. At each corner "
      "one word has all the weight. A row with the sum 1.1 lies outside the plane of the triangle.\n"
      "The dot product of a sum is the sum of the dot products. So v3'.v1 mixes v1.v1 = 0.14, v2.v1 "
      "= -0.05 and v3.v1 = -0.09 with the weights of the row.\n");
  Table table({{"row: birds, sometimes, walk"}, {"v3'.v1"}, {"point"}});
  const auto point = [&](const Three& a, const char* name) {
    const double product = std::round(1000 * dot(mixed(a), V[0])) / 1000 + 0.0;  // no "-0.000"
    table.row({digits("%.3f  %.3f  %.3f", a), formatted("%6.3f", product), name});
  };
  point({1, 0, 0}, "corner 'birds'");
  point({0, 1, 0}, "corner 'sometimes'");
  point({0, 0, 1}, "corner 'walk', as before attention");
  point({1 / 3., 1 / 3., 1 / 3.}, "the middle");
  point(legal, "the row of the example, divided by 1.1");
  to.show(table.text());
  to.say(
      "With legal weights, the mean of three numbers is at most the largest of them. So no legal row "
      "gives more than 0.14. The best row is a corner: all the weight on 'birds'.");
  double largest = -1;
  int rows = 0, best = -1;  // the weights in hundredths
  for (int i = 0; i <= 100; ++i)
    for (int j = 0; i + j <= 100; ++j, ++rows) {
      const double product = dot(mixed({i / 100., j / 100., (100 - i - j) / 100.}), V[0]);
      if (product > largest) largest = product, best = i;
    }
  to.claim(best == 100 && near(largest, 0.14),
           formatted("of %d legal rows, the corner 'birds' gives the largest v3'.v1: 0.14", rows));
  to.claim(near(dot(mixed(legal), V[0]), 0.043 / 1.1) &&
               near(cosine(mixed(legal), V[0]), cosine(mixed(A[2]), V[0])),
           "divided by 1.1, the row gives v3'.v1 = 0.0391 and the same cosine, 0.544");
  to.say();
  to.define("slip", "A mistake in one of the source notes, quoted with its reason.");
  to.slip("000", "a reasonably good attention A matrix trained (row 3: 0.6 0.1 0.4)",
          formatted("sum %.1f; divided by it, v3'.v1 = %.4f", total(A[2]), dot(mixed(legal), V[0])),
          "the attention weights of a word add up to 1");
  to.slip("000", "bird is paying more attention to walk",
          formatted("walk looks at birds %.1f, birds looks at walk %.1f", A[2][0], A[0][2]),
          "row 3 belongs to the word that looks; birds is the first word and sees no later one");
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
           "What does attention do to the numbers of a word, and does it bring 'walk' closer "
           "to 'birds'?",
       .prediction =
           "'walk' takes 0.6 of 'birds' (0.1, 0.2, 0.3), 0.1 of 'sometimes' (-0.8, 0.3, -0.1) and 0.4 "
           "of its own (0.5, -0.1, -0.4). What is the first of its new numbers? And does 'walk' come "
           "closer to 'sometimes' too, or move away from it?",
       .body = fledge::lesson,
       .reading = {{"examples/birds/by_hand.cpp", "compute_by_hand", "the same with fledge"},
                   {"engine/ops.h", "matmul", "A times V: all three rows at once"}},
       .plays = {{.option = "--row",
                  .value = "0.2,0.3,0.5",
                  .help = "another row for 'walk': its new vector and the three measures",
                  .with_text = fledge::try_row}},
       .picture = fledge::picture});
}
