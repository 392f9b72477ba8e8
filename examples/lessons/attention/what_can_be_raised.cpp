// What Q, K and V can raise: by looking elsewhere up to a ceiling, by changing values without one.
// make run shows the same (examples/birds/learning.cpp).
#include "examples/birds/by_hand.h"
#include "examples/birds/learning.h"
#include "examples/lessons/vocabulary.h"

namespace fledge::lessons::in_what_can_be_raised {
using birds::Learned, birds::Objective;
using Three = std::array<double, 3>;  // three numbers, one for each word

/// What learns in five ways, each result with a row of the table.
std::pair<std::vector<Learned>, Table> learn_in_five_ways(Objective objective) {
  std::vector<Learned> found;
  Table table = Table::of_numbers(
      {"   learns", "rate", "steps", "before", "after", "'birds'", "'sometimes'", "'walk'"});
  for (const char* learns : {"Q", "K", "Q and K", "V", "Q, K and V"}) {
    const Learned& way = found.emplace_back(birds::learn(learns, objective));
    const Three& on = way.after.attention;
    table.row("   %s | %g | %d | %.4f | %.4f | %.4f | %.4f | %.4f", learns, way.rate,
              int(way.steps), way.before.association, way.after.association, on[0], on[1], on[2]);
  }
  return {found, table};
}

void with_and_without_a_ceiling(LessonText& to) {
  const auto [found, table] = learn_in_five_ways(Objective::product);
  const Learned& V = found[3];
  const double Q = found[0].after.association, K = found[1].after.association;
  const double both = found[2].after.association, before = V.before.association;
  const Three w = V.before.attention, learned = V.after.attention;
  const Tensor X = birds::word_vectors(), v1 = row(X, 0);
  const Tensor m = w[0] * v1 + w[1] * row(X, 1) + w[2] * row(X, 2);  // the mean of v1, v2, v3
  const double slope = dot(m, m) * dot(v1, v1);                      // Σ_ic (m[i] v1[c])²
  const double ceiling = birds::product_ceiling();
  int passes = 0;  // the first step after which V alone is above the ceiling
  while (V.path[static_cast<std::size_t>(passes)].association <= ceiling) ++passes;
  to.set("each step", "%.5f x %.2f = %.6f", dot(m, m), dot(v1, v1), slope);
  to.set("100 steps", "%.4f + 100 x %.6f = %.4f", before, slope, before + 100 * slope);
  to.set_all("five ways", table, "passes 0.14", passes);
  to.claim("below the ceiling",
           std::abs(ceiling - 0.14) < 1e-7 && std::max({Q, K, both}) < ceiling);
  to.claim("Q alone is K alone", std::abs(Q - K) < 1e-6);
  to.claim_near("V alone", V.after.association, before + 100 * slope, 1e-5);
  to.claim("same weights", learned == w);
}

void all_three(LessonText& to) {
  const Learned all = birds::learn("Q, K and V", Objective::product);
  const auto at = [&](int n) -> const birds::Look& {
    return all.path[static_cast<std::size_t>(n)];
  };
  Table table = Table::of_numbers({"   step", "weight of 'birds'", "of 'walk'", "u1", "u3", "G"});
  for (const int n : {0, 25, 50, 75, 100})
    table.row("   %4d | %.4f | %.4f | %.4f | %.4f | %.4f", n, at(n).attention[0],
              at(n).attention[2], at(n).products[0], at(n).products[2], at(n).association);
  int above_G = 0, above_u1 = 0, rising = 100;
  while (at(above_G).products[2] <= at(above_G).association) ++above_G;
  while (at(above_u1).products[2] <= at(above_u1).products[0]) ++above_u1;
  while (rising > 0 && at(rising - 1).attention[2] < at(rising).attention[2]) --rising;
  const double G = all.after.association;
  to.set_all("all three learn", table, "G", G, "times the ceiling", G / 0.14, "rises", rising,
             "above G", above_G, "above u1", above_u1);
  to.claim_near("G at the end", G, 2.1129, 5e-4);
  to.claim("'walk' looks at itself",
           all.after.attention[2] > 0.95 && all.after.attention[0] < 0.05);
}

void raising_the_cosine(LessonText& to) {
  const auto [found, table] = learn_in_five_ways(Objective::cosine);
  bool are_near_1 = true;
  std::vector<double> at_birds;
  for (const Learned& way : found) {
    are_near_1 = are_near_1 && way.after.association > 0.998;
    at_birds.push_back(way.after.attention[0]);
  }
  to.set_all("cosines", table, "if V learns", at_birds[3], "if all learn", at_birds[4]);
  to.claim("near 1", are_near_1);
  to.claim("weights", std::min({at_birds[0], at_birds[1], at_birds[2]}) > 0.9 &&
                          std::max(at_birds[3], at_birds[4]) < 0.5);
}

const LessonProgram program({with_and_without_a_ceiling, all_three, raising_the_cosine});

}  // namespace fledge::lessons::in_what_can_be_raised
