// What Q, K and V can raise: by looking elsewhere up to a ceiling, by changing values without one.
//
// Works out note 000, items 4, 15 and 31. W_Q, W_K and W_V begin as the identity matrix. Some
// learn, the others stay. Key idea: Q and K choose a mean of the values that there are, so they
// have a ceiling. V changes the values, and has none. So a large association proves no attention.
// Next: 09_why_q_and_k; examples/birds/learning.cpp, which does the same in make run.
#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "engine/autograd.h"
#include "examples/birds/by_hand.h"
#include "examples/birds/learning.h"
#include "examples/lessons/attention/triangle.h"
#include "examples/lessons/lesson_page.h"
#include "examples/lessons/tensors.h"
#include "examples/support/errors.h"
#include "examples/support/table.h"

namespace fledge {
namespace {

using birds::Learned, birds::Objective;
using support::formatted, support::Lesson, support::Svg, support::Table;
using Three = Triangle::Row;  // three numbers, one for each word

const std::vector<std::string> five_ways{"Q", "K", "Q and K", "V", "Q, K and V"};

Table table_of_ways() {
  return Table::of_numbers(
      {"   learns", "rate", "steps", "before", "after", "'birds'", "'sometimes'", "'walk'"});
}
void add(Table& table, const Learned& way) {
  table.row({"   " + way.learns, formatted("%g", way.rate),
             formatted("%d", static_cast<int>(way.steps)),
             formatted("%.4f", way.before.association), formatted("%.4f", way.after.association),
             formatted("%.4f", way.after.attention[0]), formatted("%.4f", way.after.attention[1]),
             formatted("%.4f", way.after.attention[2])});
}

void with_and_without_a_ceiling(Lesson& to) {
  std::vector<Learned> found;
  Table table = table_of_ways();
  for (const std::string& learns : five_ways) {
    found.push_back(birds::learn(learns, Objective::product));
    add(table, found.back());
  }
  const Learned &Q = found[0], &K = found[1], &both = found[2], &V = found[3];
  const Tensor X = birds::word_vectors(), v1 = row(X, 0);
  const Three w = V.before.attention;
  const Tensor m =
      w[0] * row(X, 0) + w[1] * row(X, 1) + w[2] * row(X, 2);  // the mean of v1, v2, v3
  const double slope = dot(m, m) * dot(v1, v1);                // Σ_ic (m[i] v1[c])²
  int passes = 0;  // the first step after which V alone is above the ceiling
  while (V.path[static_cast<std::size_t>(passes)].association <= birds::product_ceiling()) ++passes;
  to.part("Q and K have a ceiling, V has none");
  to.say(
      "As in lesson 07, 'birds', 'sometimes' and 'walk' have the vectors v1, v2 and v3. W_Q, W_K "
      "and W_V begin as the identity matrix. Gradient ascent raises the association of 'walk' with "
      "'birds'. Here it is the dot product G = v3'.v1, where v3' is 'walk' after attention. Now we "
      "choose which matrices learn.\nAs long as W_V stays, the values are v1, v2 and v3. Their dot "
      "products with v1 are 0.14, -0.05 and -0.09. G is a weighted mean of these three numbers. A "
      "weighted mean is never above the largest number. So G has a ceiling of 0.14.");
  to.define("ceiling",
            "A number that a quantity cannot exceed, whatever values the trained parameters get.");
  to.say(
      "If only W_V learns, the weights stay. Let m be the mean of v1, v2 and v3 with these "
      "weights. Then v3' = m W_V. Each number of W_V gives G one term; G is the sum of the nine "
      "terms. The term of row i, column c is that number, times number i of m, times number c of "
      "v1. So its derivative is number i of m times number c of v1, the same at every step. At a "
      "learning rate of 1, a step adds to each number its derivative. So G rises by the sum of the "
      "squares of the nine derivatives, which is (m.m) (v1.v1). G has no ceiling:\n");
  to.say(formatted("   each step adds (m.m) (v1.v1) = %.5f x %.2f = %.6f\n", dot(m, m), dot(v1, v1),
                   slope) +
         formatted("   100 steps: %.4f + 100 x %.6f = %.4f\n", V.before.association, slope,
                   V.before.association + 100 * slope));
  to.say(
      "'Rate' is the learning rate; 'before' and 'after' are G. Then come the weights of 'walk' at "
      "the end. If V learns, there is no ceiling, and a rate of 1 and 100 steps are enough.\n");
  to.show(table.text());
  to.say(
      "With Q, K or both, 'walk' turns to 'birds', and G comes near 0.14. Q alone and K alone give "
      "the same numbers. The score of word j is a sum of nine terms, times 1 / sqrt(3). A term is "
      "number i of v3, times number c of v_j, times one number of the matrix that learns. If Q "
      "learns, this number stands in row i, column c. If K learns, it stands in row c, column i. "
      "So the same nine numbers learn, in other places.\nIf you predicted the order Q and K, V, "
      "all three, you were right for these rates and steps. " +
      formatted("(V alone passes 0.14 at step %d.) ", passes) +
      "But if all three learn, 'walk' does not look at 'birds'.");
  to.claim(std::abs(birds::product_ceiling() - 0.14) < 1e-7 &&
               std::max({Q.after.association, K.after.association, both.after.association}) <
                   birds::product_ceiling(),
           "Q, K, and both together stay below the ceiling, 0.14");
  to.claim(std::abs(Q.after.association - K.after.association) < 1e-6,
           "Q alone is K alone, to 6 decimals");
  to.claim_near(V.after.association, V.before.association + 100 * slope, 1e-5,
                "G after 100 steps of W_V alone");
  to.claim(V.after.attention == w, "with V alone the weights of 'walk' stay exactly the same");
  to.slip("000", "we compute the attention row a_i as a product of q_k and V",
          formatted("V has learned, and the weight of 'birds' is still %.4f; it changed by %g",
                    V.after.attention[0], V.after.attention[0] - w[0]),
          "the row is the softmax of the products of q_i with the keys; it mixes the values");
}

void all_three(Lesson& to) {
  const Learned all = birds::learn("Q, K and V", Objective::product);
  to.part("All three learn: 'walk' looks at itself");
  to.say(
      "Here p1 and p3 are the products of the values of 'birds' and 'walk' with v1. They change, "
      "because W_V learns.\n");
  Table table = Table::of_numbers({"   step", "weight of 'birds'", "of 'walk'", "p1", "p3", "G"});
  const auto at = [&](int n) -> const birds::Look& {
    return all.path[static_cast<std::size_t>(n)];
  };
  for (const int n : {0, 25, 50, 75, 100})
    table.row({formatted("   %4d", n), formatted("%.4f", at(n).attention[0]),
               formatted("%.4f", at(n).attention[2]), formatted("%.4f", at(n).products[0]),
               formatted("%.4f", at(n).products[2]), formatted("%.4f", at(n).association)});
  to.show(table.text());
  int above_G = 0, turn = 0, rising = 100;
  while (at(above_G).products[2] <= at(above_G).association) ++above_G;
  while (at(turn).products[2] <= at(turn).products[0]) ++turn;
  while (rising > 0 && at(rising - 1).attention[2] < at(rising).attention[2]) --rising;
  to.say(
      formatted(
          "The surprise: G becomes %.2f, %.0f times the ceiling, and 'walk' looks at itself. ",
          all.after.association, all.after.association / 0.14) +
      "The first step of W_V adds (v_j.m) v1 to the value of word j, so it adds (v_j.m) (v1.v1) to "
      "p_j. v_j.m is -0.007 for 'birds' and 0.046 for 'walk': p1 falls and p3 rises. " +
      formatted("After %d steps the weight of 'walk' begins to rise. Its own ds_3 is positive only "
                "after %d steps, when p3 is larger than G. As in lesson 07, the reason is that all "
                "words share W_Q and W_K. ",
                rising, above_G) +
      formatted("After %d steps p3 is larger than p1 too. ", turn) +
      "A larger weight on 'walk' brings m nearer to v3, so p3 grows faster. A larger p3 makes the "
      "weight grow.\n");
  to.claim_near(all.after.association, 2.1129, 5e-4, "G, if all three learn");
  to.claim(all.after.attention[2] > 0.95 && all.after.attention[0] < 0.05,
           "'walk' gives itself more than 0.95, and 'birds' less than 0.05");
}

void raising_the_cosine(Lesson& to) {
  to.part("The cosine: a high association is not a high weight");
  to.say(
      "Perhaps the product is the wrong goal, because it also grows with the length of v3'. The "
      "cosine divides by both lengths, and it is at most 1. So we raise the cosine of v3' and v1. "
      "'before' and 'after' are now this cosine.\n");
  Table table = table_of_ways();
  bool are_near_1 = true;
  std::vector<double> at_birds;
  for (const std::string& learns : five_ways) {
    const Learned way = birds::learn(learns, Objective::cosine);
    add(table, way);
    are_near_1 = are_near_1 && way.after.association > 0.998;
    at_birds.push_back(way.after.attention[0]);
  }
  to.show(table.text());
  to.say(
      formatted(
          "All five cosines end near 1. In three of them 'walk' gives nearly all weight to "
          "'birds'. In the two in which V learns it gives 'birds' less than half: %.2f and %.2f. ",
          at_birds[3], at_birds[4]) +
      "So a large association does not prove that a word attends to another word. To know where a "
      "model looks, look at its weights.\nIn a real model V learns too, but its goal is the next "
      "word. After 'birds sometimes walk' it is another one than after 'cats sometimes walk'. If "
      "'walk' looks only at itself, its result is the same in both, and so is the prediction. So "
      "in a model with one attention only, 'walk' must look at the animal. The lesson "
      "attention/18_text_to_text trains such a model.");
  to.claim(are_near_1, "all five cosines are above 0.998");
  to.claim(std::min({at_birds[0], at_birds[1], at_birds[2]}) > 0.9 &&
               std::max(at_birds[3], at_birds[4]) < 0.5,
           "'birds' gets more than 0.9 if V stays, and less than 0.5 if V learns");
}

void with_learns(Lesson& to, const std::string& text) {
  if (text.find_first_of("QKV") == std::string::npos ||
      text.find_first_not_of("QKV, ") != std::string::npos)
    support::refuse_usage("--learns must be some of Q, K and V: got " + support::quoted(text),
                          "write --learns Q,V");
  Table table = table_of_ways();
  add(table, birds::learn(text, Objective::product));
  to.say("G is the product v3'.v1. The last columns are the weights of 'walk' at the end.\n");
  to.show(table.text());
  to.say(text.find('V') != std::string::npos
             ? "V learns, so G has no ceiling. See whether 'walk' looks at 'birds' or at itself."
             : "V stays, so G is below its ceiling, 0.14.");
}

Svg picture() {
  Svg svg(700, 500);
  svg.text(20, 26, "Where 'walk' looks while G = v3'.v1 is raised, by five ways of learning",
           Svg::Anchor::start, 14);
  svg.text(20, 46, "Each point is a row of three weights. All paths begin at the same point.");
  Triangle triangle(svg, 110, 460, 420);
  double y = 120;
  for (std::size_t i = 0; i < five_ways.size(); ++i) {
    const Learned way = birds::learn(five_ways[i], Objective::product);
    const std::string& ink = support::svg_colours()[i];
    std::vector<Three> rows;
    for (const birds::Look& look : way.path) rows.push_back(look.attention);
    triangle.path(rows, ink, i == 0 ? 6 : 2.5);  // the path of Q lies below that of K
    triangle.dot(rows.back(), ink);
    svg.text(440, y,
             formatted("%-10s  %d steps: G = %.2f", way.learns.c_str(), static_cast<int>(way.steps),
                       way.after.association),
             Svg::Anchor::start, 12, ink);
    y += 22;
  }
  return svg;
}

void lesson(Lesson& to) {
  with_and_without_a_ceiling(to);
  all_three(to);
  raising_the_cosine(to);
}

}  // namespace
}  // namespace fledge

int main(int argc, char** argv) {
  return support::run_lesson(
      argc, argv,
      {.name = "attention/08_what_can_be_raised",
       .title = "What Q, K and V can raise",
       .question =
           "Training raises the association of 'walk' with 'birds'. How high can it rise if only "
           "W_Q and W_K learn? And if W_V learns too?",
       .prediction =
           "The association is -0.0072 at the start. The products of the three values with 'birds' "
           "are 0.14, -0.05 and -0.09. Put in order by the association at the end: Q and K learn; "
           "V learns; all three learn. And in which of them does 'walk' look at 'birds'?",
       .body = fledge::lesson,
       .reading = {{"examples/birds/learning.cpp", "learn",
                    "the loop, which make run shows as well"},
                   {"examples/birds/learning.h", "product_ceiling", "the ceiling"}},
       .plays = {{.option = "--learns",
                  .value = "Q,V",
                  .help = "another choice of the matrices that learn",
                  .with_text = fledge::with_learns}},
       .picture = fledge::picture});
}
