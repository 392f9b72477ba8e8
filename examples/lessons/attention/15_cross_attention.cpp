// Cross attention: queries from one input, keys and values from another.
//
// Works out note 002, 002.20 and 002.5. Key idea: nothing in attention says that queries and keys
// come from the same text. Here the queries are made of positions alone, and they copy a text
// backwards. No mask is needed, because the whole text is known.
// Next: nn/layers/attention.h, CrossAttention; then 16_terms_that_interact.
#include <algorithm>

#include "engine/ops.h"
#include "examples/lessons/attention/reader.h"
#include "examples/lessons/lesson_page.h"
#include "examples/support/attention_map.h"

namespace fledge {
namespace {

using reader::Reader, support::formatted, support::Lesson;

constexpr Dim T = reader::T;

/// A layer that learned to write the text backwards: position t must name the word at T − 1 − t.
Reader backwards(std::uint64_t seed) {
  return reader::trained(1, {[](Dim t) { return T - 1 - t; }}, false, Rng(seed));
}

/// Its mean weights over these texts, (T, T) row by row.
std::vector<double> mean_weights(const Reader& model, const Indices& texts) {
  return to_vector(mean(model.forward_with_weights(texts).weights, {0, 1}).value());
}

void show_map(Lesson& to, const std::vector<double>& weights) {
  support::MapStyle style;
  style.causal = false;
  to.show(support::attention_map({"1", "2", "3", "4", "5", "6", "7", "8"}, weights, style));
}

void lesson(Lesson& to) {
  to.part("To write a text backwards");
  to.define("cross attention",
            "Attention with queries from one input, and keys and values from another.");
  to.say(
      "\nA translating program works like this. The queries come from the words that it has "
      "written so far. The keys and values come from the text that it translates.\nOur task is "
      "smaller. The text has eight random words. The answer has eight empty positions, and "
      "position 1 must name word 8, position 2 word 7, and so on. The empty positions have no "
      "words, so a query is made of a position alone. A key is made of a word and its position, "
      "and so is a value. A mask would hide words that are not known yet. Here all words of the "
      "text are known from the start, so there is no mask. As in lesson 14, the result of "
      "attention at each position has a number for each of the eight different words. The largest "
      "names the answer.\nThe model is never told which position to look at. In training it is "
      "shown only which words the right answer has. We train 20 models, each with its own seed. "
      "The map shows the weights of the last one, as means over 100 new texts. Row 1 has the "
      "weights of position 1 of the answer; column 1 is word 1 of the text. An even split would "
      "give each word 1/8 = 0.125; the map shows it as 0.12.\n");
  Rng texts(999);
  const Indices unseen = reader::random_texts(100, texts);
  constexpr int seeds = 20;
  int solved = 0;
  std::vector<double> weights;
  for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
    const Reader model = backwards(seed);
    solved += reader::accuracy(model, unseen)[0] == 1 ? 1 : 0;
    weights = mean_weights(model, unseen);
  }
  show_map(to, weights);
  std::vector<double> named;  // the weight of each position on the word that it must name
  for (Dim t = 0; t < T; ++t) named.push_back(weights[static_cast<std::size_t>(t * T + T - 1 - t)]);
  const auto [least, most] = std::minmax_element(named.begin(), named.end());
  to.say(
      "\nThe large weights lie on the diagonal from top right to bottom left. If you predicted "
      "this picture, you used the main idea of attention: a query finds the key that fits it, "
      "wherever the key stands. " +
      formatted(
          "Position 1 looks at word 8 with the weight %.2f: the two numbers differ by 7. Position "
          "4 looks at word 5 with %.2f: they differ by 1. ",
          named[0], named[3]) +
      "A large difference is not harder here. Two things are not as in lesson 14: the queries come "
      "from another input, and there is no mask.\n");
  to.claim_rate(solved, seeds, 20, "all 800 words of 100 new texts come out in reversed order");
  to.claim(*least > 0.5,
           formatted("the weights on this diagonal lie between %.2f and %.2f", *least, *most));
}

void with_seed(Lesson& to, Dim seed) {
  Rng texts(999);
  const Indices unseen = reader::random_texts(100, texts);
  const Reader model = backwards(static_cast<std::uint64_t>(seed));
  show_map(to, mean_weights(model, unseen));
  to.say(formatted("right words in 100 new texts: %.3f", reader::accuracy(model, unseen)[0]));
}

}  // namespace
}  // namespace fledge

int main(int argc, char** argv) {
  return support::run_lesson(
      argc, argv,
      {.name = "attention/15_cross_attention",
       .title = "Cross attention: queries from another input",
       .question = "In self-attention, queries, keys and values come from the same text. Can the "
                   "queries come from somewhere else?",
       .prediction = "A layer must write a text of eight words backwards. Draw its map of weights: "
                     "eight rows, eight columns, a cross for the largest weight of each row.",
       .body = fledge::lesson,
       .reading = {{"nn/layers/attention.h", "CrossAttention",
                    "queries from x, keys and values from a source"},
                   {"examples/lessons/attention/reader.h", "trained", "how the layer learns"}},
       .plays = {{.option = "--seed",
                  .value = "7",
                  .help = "the map of another model",
                  .limits = {1, 1e6},
                  .with_whole_number = fledge::with_seed}}});
}
