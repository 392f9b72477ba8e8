// Cross attention: queries from one input, keys and values from another. Here the queries are made
// of positions alone, and they copy a text backwards.
#include <regex>

#include "examples/lessons/attention/reader.h"
#include "examples/support/drawn.h"

namespace fledge::lessons::in_cross_attention {
using reader::T;

/// Without the even split, which is the same in each row.
std::string map_of(const std::vector<double>& weights) {
  return std::regex_replace(
      support::attention_map({"1", "2", "3", "4", "5", "6", "7", "8"}, weights, {.causal = false}),
      std::regex(" \\(even split [^)]*\\)"), "");
}

void lesson(LessonText& to) {
  const Indices unseen = reader::unseen_texts();
  std::vector<double> weights;  // means over the texts, (T, T) row by row
  const int solved = count_seeds(20, [&](std::uint64_t seed) {
    // It learns to write the text backwards: position t must name the word at T − 1 − t.
    const auto model = reader::trained(1, {[](Dim t) { return T - 1 - t; }}, false, Rng(seed));
    weights = numbers(mean(model.forward_with_weights(unseen).weights, {0, 1}));
    return reader::accuracy(model, unseen)[0] == 1;
  });
  std::vector<double> named;  // the weight of each position on the word that it must name
  for (Dim t = 0; t < T; ++t) named.push_back(weights[static_cast<std::size_t>(t * T + T - 1 - t)]);
  const auto [least, most] = std::minmax_element(named.begin(), named.end());
  to.set_all("map", map_of(weights), "first weight", named[0], "fourth weight", named[3]);
  to.claim_rate("reversed", solved, 20, 20);
  to.set_all("least", *least, "most", *most);
  to.claim("diagonal", *least > 0.5);
}

const LessonProgram program({lesson});

}  // namespace fledge::lessons::in_cross_attention
