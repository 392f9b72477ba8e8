// Why attention: one vector for a word is not enough, because its sentence changes its meaning.
//
// Works out items 002.2, 002.3 and 002.4 of examples/NOTES.md: 'mole' by hand, then 'walk' in a
// trained model. Key idea: the embedding of a word is the same in every sentence. Attention mixes
// vectors of other words into it, so the vector after attention depends on the sentence.
// Next: 02_worked_example; examples/birds/text_model.h, nn/layers/block.h.
#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <vector>

#include "engine/autograd.h"
#include "examples/birds/text_model.h"
#include "examples/lessons/lesson_page.h"
#include "examples/support/table.h"
#include "nn/generate/sampler.h"

namespace fledge {
namespace {

using support::formatted, support::Lesson, support::Table;

// -- Part 1: two numbers for each word, (animal, chemistry) ---------------------------------------

using Pair = std::array<double, 2>;
constexpr Pair mole{1, 1}, dug{2, 0}, gas{0, 2};
constexpr double own = 0.1, other = 0.9;  // attention weights, set by hand

/// own·x + other·y, number by number
Pair mixed(const Pair& x, const Pair& y) {
  return {own * x[0] + other * y[0], own * x[1] + other * y[1]};
}

double cosine(const Pair& x, const Pair& y) {
  return (x[0] * y[0] + x[1] * y[1]) / (std::hypot(x[0], x[1]) * std::hypot(y[0], y[1]));
}

/// "   animal     0.1 * 1 + 0.9 * 2 = 0.1 + 1.8 = 1.9"
std::string worked(const char* name, double x, double y) {
  return formatted("   %-10s %.1f * %.0f + %.1f * %.0f = %.1f + %.1f = %.1f", name, own, x, other,
                   y, own * x, other * y, own * x + other * y);
}

void mole_by_hand(Lesson& to) {
  to.part("One word, two meanings: 'mole' by hand");
  to.say("In 'the mole dug' a mole is an animal. In 'a mole of gas' it is a unit of chemistry.");
  to.define("vector", "A list of numbers, such as (1, 0, 0); it can be drawn as an arrow.");
  to.define("embedding",
            "The vector that a table holds for each word; it is the same in every sentence.");
  to.say(
      "Here an embedding has two numbers: how much the word has to do with animals, and how much "
      "with chemistry. We set them by hand: 'mole' (1, 1), 'dug' (2, 0), 'gas' (0, 2). The table "
      "does not know the sentence, so 'mole' has a little of both meanings. Only the other words "
      "show which meaning is right. So 'mole' must take something from their vectors.");
  to.define(
      "weighted sum",
      "Several vectors, each multiplied by a number, its weight, and then added: 0.1 x + 0.9 y.");
  to.define(
      "attention",
      "The computation that gives each word a new vector: a weighted sum of vectors of words in "
      "the text.");
  to.define(
      "attention weight",
      "The share, from 0 to 1, that one word takes of the vector of another word or of its own; "
      "all shares that it takes add up to 1.");
  to.say(
      "'mole' takes 0.9 of the vector of 'dug'. We say: 'mole' gives 'dug' the weight 0.9, or "
      "'mole' looks at 'dug'. The weight goes to 'dug'; the numbers come from 'dug'. A word may "
      "also look at itself: 'mole' takes 0.1 of its own vector. 'the', 'a' and 'of' get the weight "
      "0.\n\n'mole' in 'the mole dug':");
  to.show(worked("animal", mole[0], dug[0]) + "\n" + worked("chemistry", mole[1], dug[1]));
  to.say("'mole' in 'a mole of gas':");
  to.show(worked("animal", mole[0], gas[0]) + "\n" + worked("chemistry", mole[1], gas[1]));
  to.say(
      "\nThe new vectors are (1.9, 0.1) and (0.1, 1.9). If you predicted them, you computed "
      "attention. 'mole' had one vector. Now it has one for each sentence.");
  to.define("cosine",
            "A number from -1 to 1 that compares the directions of two vectors: 1 for the same "
            "direction, 0 for a right angle, -1 for opposite ones.");
  to.say(
      "To get the cosine, multiply the vectors number by number and add the products. Then divide "
      "by both lengths. Each new vector has the length sqrt(1.9 * 1.9 + 0.1 * 0.1) = sqrt(3.62), "
      "and sqrt(3.62) * sqrt(3.62) = 3.62. So the cosine is (1.9 * 0.1 + 0.1 * 1.9) / 3.62 = 0.38 "
      "/ 3.62 = 0.105. Before attention it is 1: 'mole' has the vector (1, 1) in both sentences.");
  to.define("claim",
            "A printed statement that the lesson checks; \"ok\" stands before it if it holds.");
  const Pair animal = mixed(mole, dug), unit = mixed(mole, gas);
  to.claim(std::abs(animal[0] - 1.9) + std::abs(animal[1] - 0.1) < 1e-12 &&
               std::abs(unit[0] - 0.1) + std::abs(unit[1] - 1.9) < 1e-12,
           "'mole' becomes (1.9, 0.1) beside 'dug' and (0.1, 1.9) beside 'gas'");
  to.claim_near(cosine(animal, unit), 0.38 / 3.62, 1e-12, "the cosine of these two vectors");
}

// -- Parts 2 and 3: 'walk' in the model of examples/birds -----------------------------------------

/// The last word of a sentence in the model, which reads T tokens: a line end and the words.
struct LastWord {
  Tensor before, after;         // x, and x + attention(x)
  std::vector<double> weights;  // that it gives to the line end and each word
  std::vector<Choice> next;     // the three most probable next words
};

LastWord last_word(const LanguageModel& model, const Corpus& corpus, const std::string& sentence) {
  const NoGrad no_grad;
  const Indices ids = birds::beginning_row(corpus, sentence);
  const Dim T = ids.size();
  std::vector<Dim> places;
  while (std::ssize(places) < T) places.push_back(std::ssize(places));
  const Tensor x = model.wte(ids) + model.wpe(Indices({1, T}, places));  // embedding + place
  const auto [attended, weights] =
      model.h[0].attn.forward_with_weights(model.h[0].ln_1(x), causal());
  const Array logits = Decoder(model).read(birds::beginning(corpus, sentence));
  return {slice(x, 1, T - 1, T), slice(x + attended, 1, T - 1, T),
          to_vector(slice(weights, 2, T - 1, T).value()), most_likely(logits, 3)};
}

double cosine(const Tensor& x, const Tensor& y) { return sum(cosine_similarity(x, y)).item(); }

std::string word_of(const Corpus& corpus, Dim token) {
  return corpus.tokenizer.symbols().at(static_cast<std::size_t>(token));
}

const std::string animals[] = {"birds", "cats", "ducks"};

/// 'walk' in the three sentences.
std::vector<LastWord> look_at_walk(const LanguageModel& model, const Corpus& corpus) {
  std::vector<LastWord> found;
  for (const std::string& animal : animals)
    found.push_back(last_word(model, corpus, animal + " sometimes walk"));
  return found;
}

void walk_in_a_model(Lesson& to, const Corpus& corpus, const std::vector<LastWord>& untrained,
                     const std::vector<LastWord>& trained) {
  to.part("The same in a model that has learned: 'walk'");
  to.define("model",
            "A function whose numbers are learned from examples; here it gives every word that it "
            "knows a probability to come next.");
  to.define("training",
            "Changing the numbers of a model a little at a time, again and again, so that its "
            "predictions become better.");
  to.define("line end",
            "The sign between two lines of a text; a model reads it before the first word of a "
            "sentence, so tables call it 'start'.");
  to.say(
      "fledge is the program of this course. We look at the model that its command 'make run' "
      "trains. The model learns from 79 short sentences, such as 'birds sometimes walk slowly .'. "
      "Before training its numbers are random. A model that predicts the next word must not see "
      "later words. So here a word may look only at itself and at earlier words; in part 1 'mole' "
      "looked at a later word. The model computes the next word from the new vector of the last "
      "word alone, here that of 'walk'.\nBefore the first word the model reads the line end, so "
      "'walk' is always in the fourth place. One table holds a vector for each word, and a second "
      "table holds a vector for each place. 'walk' begins with the sum of its two vectors. In part "
      "1 the weighted sum replaced the old vector. In this model it is added to the old vector, so "
      "that the word itself is not lost.\nThe rows of the table are three sentences: an animal, "
      "then 'sometimes walk'. The cosine compares the vector of 'walk' in each sentence with that "
      "in the first one. 'before' is the sum of the two vectors; 'after' has the weighted sum "
      "added, without and with training. The last column is the most probable next word after "
      "training, with its probability.\n");
  Table table = Table::of_numbers(
      {"animal", "before attention", "after, untrained", "after, trained", "next word"});
  bool same = true, alike = true;
  for (std::size_t i = 0; i < trained.size(); ++i) {
    const double random = cosine(untrained[i].after, untrained[0].after);
    const Choice& next = trained[i].next[0];
    table.row({animals[i], formatted("%.3f", cosine(trained[i].before, trained[0].before)),
               formatted("%.3f", random),
               formatted("%.3f", cosine(trained[i].after, trained[0].after)),
               word_of(corpus, next.token) + formatted(" (%.3f)", next.probability)});
    same = same && to_vector(trained[i].before.value()) == to_vector(trained[0].before.value());
    alike = alike && random > 0.99;
  }
  to.show(table.text());
  to.say(
      "Before attention the cosine is always 1, because 'walk' has the same two vectors in all "
      "three sentences. After training the new vectors of 'walk' differ in direction. The model "
      "needs that. If the vectors of 'walk' were equal, the predicted next words would be equal "
      "too. " +
      formatted(
          "One training could be luck. So the program trains ten models, and the last claim has "
          "the largest of their ten cosines for 'cats' (%.3f in the table).",
          cosine(trained[1].after, trained[0].after)));
  to.claim(same, "before attention 'walk' has the same numbers in all three sentences");
  to.claim(alike, "untrained, the vectors after attention are alike: cosine above 0.99");
  to.claim(word_of(corpus, trained[0].next[0].token) == "slowly" &&
               word_of(corpus, trained[1].next[0].token) == "quietly",
           "trained, it predicts 'slowly' for 'birds' and 'quietly' for 'cats'");
  double largest = -1;
  for (std::uint64_t start = 1; start <= 10; ++start) {
    const LanguageModel model = birds::new_model(corpus, start);
    birds::train(model, corpus, start);
    const std::vector<LastWord> walks = look_at_walk(model, corpus);
    largest = std::max(largest, cosine(walks[1].after, walks[0].after));
  }
  to.claim(largest < 0.95,
           formatted("ten models, other random numbers: cosine for 'cats' at most %.2f", largest));
}

void not_only_neighbours(Lesson& to, const LastWord& walk) {
  to.part("Attention is not only for neighbours");
  to.say("In the trained model 'walk' gives these weights in 'birds sometimes walk':\n");
  Table table({{"'walk' looks at"}, {"start"}, {"birds"}, {"sometimes"}, {"walk"}});
  std::vector<std::string> row{"with the weight"};
  for (const double weight : walk.weights) row.push_back(formatted("%.3f", weight));
  table.row(row);
  to.show(table.text());
  to.say(
      "If you guessed 'sometimes', you chose the neighbour. But a word may look at any earlier "
      "word, near or far. 'birds' is two places away and gets nearly all of the weight, because "
      "the next word depends on the animal. 'sometimes' is the same in all three sentences of part "
      "2, so it cannot decide.");
  to.claim(walk.weights[1] > 0.9 && walk.weights[2] < 0.05,
           "'walk' gives 'birds' more than 0.9, and 'sometimes' less than 0.05");
}

void lesson(Lesson& to) {
  mole_by_hand(to);
  const Corpus corpus = birds::read_text();
  const LanguageModel model = birds::new_model(corpus, 1);
  const auto untrained = look_at_walk(model, corpus);
  birds::train(model, corpus, 1);
  const auto trained = look_at_walk(model, corpus);
  walk_in_a_model(to, corpus, untrained, trained);
  not_only_neighbours(to, trained[0]);
}

/// --sentence "cats sometimes walk"
void compare_sentence(Lesson& to, const std::string& sentence) {
  const Corpus corpus = birds::read_text();
  const LanguageModel model = birds::new_model(corpus, 1);
  const std::vector<Dim> ids = birds::beginning(corpus, sentence);
  require<ValueError>(static_cast<Dim>(ids.size()) <= model.sizes.context, "--sentence",
                      "a sentence has at most ", model.sizes.context - 1, " words, and this has ",
                      ids.size() - 1, ": leave some out");
  birds::train(model, corpus, 1);
  const LastWord walk = last_word(model, corpus, "birds sometimes walk");
  const LastWord last = last_word(model, corpus, sentence);
  Table looks({{"the last word looks at"}, {"weight"}});
  for (std::size_t j = 0; j < ids.size(); ++j)
    looks.row({j == 0 ? "start" : word_of(corpus, ids[j]), formatted("%.3f", last.weights[j])});
  to.show(looks.text());
  to.say("Most probable next words:");
  for (const Choice& choice : last.next)
    to.say(formatted("   %.3f  ", choice.probability) + word_of(corpus, choice.token));
  to.say(
      formatted("The last word and 'walk' in 'birds sometimes walk': cosine %.3f before attention, "
                "%.3f after. With 'walk' as the third word the first cosine is 1.",
                cosine(last.before, walk.before), cosine(last.after, walk.after)));
}

support::Svg picture() {
  constexpr double left = 70, bottom = 400, unit = 160;
  support::Svg svg(580, 450);
  using Anchor = support::Svg::Anchor;
  svg.text(20, 30, "One embedding of 'mole', two vectors after attention", Anchor::start, 17);
  svg.arrow(left, bottom, left + 2.3 * unit, bottom, "#444444");
  svg.arrow(left, bottom, left, bottom - 2.2 * unit, "#444444");
  svg.text(left + 2.3 * unit, bottom + 36, "animal", Anchor::end, 14);
  svg.text(left + 8, bottom - 2.15 * unit, "chemistry", Anchor::start, 14);
  const auto arrow = [&](const Pair& to, const char* name, double dx, const std::string& colour) {
    const double x = left + to[0] * unit, y = bottom - to[1] * unit;
    svg.arrow(left, bottom, x, y, colour, 3);
    const std::string label = name + formatted(" (%.1f, %.1f)", to[0], to[1]);
    svg.text(x + dx, y - 12, label, Anchor::start, 14, colour);
  };
  arrow(mole, "'mole' before attention", 0, "#444444");
  arrow(mixed(mole, dug), "'mole' in 'the mole dug'", -60, support::svg_colours()[0]);
  arrow(mixed(mole, gas), "'mole' in 'a mole of gas'", 14, support::svg_colours()[1]);
  return svg;
}

}  // namespace
}  // namespace fledge

int main(int argc, char** argv) {
  return support::run_lesson(
      argc, argv,
      {.name = "attention/01_why_attention",
       .title = "Why attention: one vector for a word is not enough",
       .question = "A word can mean different things in different sentences. How can a program "
                   "give it a different meaning in each?",
       .prediction =
           "Give 'mole' the numbers (1, 1), 'dug' (2, 0), 'gas' (0, 2). 'mole' takes 0.1 of its "
           "own numbers and 0.9 of those of 'dug'. Which two numbers come out? And with 'gas' in "
           "place of 'dug'? A second guess: a program must predict the word after 'birds sometimes "
           "walk'. From which word should 'walk' take most: 'birds', 'sometimes' or itself?",
       .body = fledge::lesson,
       .reading = {{"nn/layers/block.h", "add_residuals", "adds the weighted sum"},
                   {"examples/birds/text_model.cpp", "train", "how the model of part 2 learns"},
                   {"examples/support/built_in_text.inc", "walk slowly", "the sentences"}},
       .plays = {{.option = "--sentence",
                  .value = "dogs sometimes walk",
                  .help =
                      "shows where the last word looks and what comes next; use words of the text",
                  .with_text = fledge::compare_sentence}},
       .picture = fledge::picture});
}
