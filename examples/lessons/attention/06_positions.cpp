// Positions: without them attention does not know the order of the words.
//
// Works out 002.4 (attention is not local), 002.5 (how far it reaches) and 002.6 (embeddings encode
// positions). Key idea: the result of attention is a sum over words, and a sum does not depend on
// the order of its terms. So the order must be in the vectors: x = word vector + position vector.
// Next: 07_turning_a_head.cpp.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <sstream>
#include <string>
#include <vector>

#include "engine/autograd.h"
#include "examples/lessons/lesson_page.h"
#include "examples/lessons/tensors.h"
#include "examples/support/errors.h"
#include "examples/support/table.h"
#include "nn/layers/attention.h"
#include "nn/optim/adamw.h"

namespace fledge {
namespace {

using support::formatted, support::Lesson, support::Table;
using Plane = std::array<double, 2>;

struct Word {
  const char* name;
  Plane x;
};
using Sentence = std::vector<Word>;

const Word dog{"dog", {1, 0}}, bites{"bites", {1, 1}}, man{"man", {0, 2}};
const Sentence dog_first{dog, bites, man}, man_first{man, bites, dog};

/// x = word vector + position vector
Sentence with_positions(Sentence sentence) {
  const Plane positions[] = {{1, 0}, {0, 0}, {1, 1}};
  for (std::size_t i = 0; i < 3; ++i)
    for (std::size_t c = 0; c < 2; ++c) sentence[i].x[c] += positions[i][c];
  return sentence;
}

struct Result {
  Plane mixed{0, 0};  // the new vector of 'bites': the sum of a_j x_j
  std::string table;
};

/// a = softmax(x_bites . x_j / sqrt(2)) over the words of the sentence
Result bites_looks_at(const Sentence& sentence) {
  const Plane q = sentence[1].x;
  const auto q_k = [&](const Word& word) { return q[0] * word.x[0] + q[1] * word.x[1]; };
  double sum = 0, weights = 0;
  for (const Word& word : sentence) sum += std::exp(q_k(word) / std::sqrt(2));
  Result result;
  Plane& mixed = result.mixed;
  Table table =
      Table::of_numbers({"word", "x", "q.k", "q.k / sqrt(2)", "exp", "weight", "weight * x"});
  for (const Word& word : sentence) {
    const double score = q_k(word) / std::sqrt(2), a = std::exp(score) / sum;
    const Plane x = word.x, part{a * x[0], a * x[1]};
    mixed = {mixed[0] + part[0], mixed[1] + part[1]};
    weights += a;
    table.row({word.name, formatted("(%.0f, %.0f)", x[0], x[1]), formatted("%.0f", q_k(word)),
               formatted("%.3f", score), formatted("%.3f", std::exp(score)), formatted("%.3f", a),
               formatted("(%.3f, %.3f)", part[0], part[1])});
  }
  table.row({"sum", "", "", "", formatted("%.3f", sum), formatted("%.3f", weights),
             formatted("(%.3f, %.3f)", mixed[0], mixed[1])});
  result.table = table.text();
  return result;
}

/// How far the new vectors of 'bites' in the two sentences are apart.
double apart(const Sentence& a, const Sentence& b) {
  const Plane first = bites_looks_at(a).mixed, second = bites_looks_at(b).mixed;
  return std::hypot(first[0] - second[0], first[1] - second[1]);
}

void order_is_lost(Lesson& to) {
  to.part("Without positions the order is lost");
  to.say(
      "In this part each word has one vector: dog = (1, 0), bites = (1, 1), man = (0, 2). To keep "
      "the numbers short, the query, the key and the value of a word are its vector x. There is no "
      "mask. 'bites' looks at all words of 'dog bites man':\n");
  to.show(bites_looks_at(dog_first).table);
  to.say(
      "'q.k' is the query of 'bites' times the key of the word in the row. The last row is the new "
      "vector of 'bites'. 'man bites dog' has the same rows in another order. A sum does not "
      "depend on the order of its terms, so the new vector is the same. If you predicted two "
      "vectors, look again: no number here says which word came first.\nHere no matrix is used. "
      "With W_Q, W_K and W_V the same holds, whatever their numbers are: if words change places, "
      "their results move with them and keep their numbers.\nWith the causal mask of lesson 05, a "
      "little of the order shows without positions: a later word sees more words. But the last "
      "word sees all words, so the order of the others has no influence on it.");
  to.claim(apart(dog_first, man_first) < 1e-15, "'bites' gets the same vector in both sentences");
  Rng rng(1);
  const Attention attention(8, 2, rng);
  const Tensor x = random_normal({5, 8}, 0, 1, rng), given = attention(x);
  const Tensor masked = attention(x, causal());
  std::vector<Dim> order{0, 1, 2, 3, 4};
  double moved = 0, last = 0;
  do {
    const Indices in_order({5}, order);  // embedding() takes the rows in this order
    const Tensor z = embedding(x, in_order);
    moved = std::max(moved, largest(attention(z) - embedding(given, in_order)));
    if (order[4] == 4) last = std::max(last, largest(row(attention(z, causal()) - masked, 4)));
  } while (std::next_permutation(order.begin(), order.end()));
  to.claim(moved < 1e-14, "random parameters: the same results in every order of five words");
  to.claim(last < 1e-14, "causal mask: the fifth has one result for all orders of the other four");
}

void order_is_in_the_vectors(Lesson& to) {
  to.part("Position vectors put the order into the vectors");
  to.define("position", "The place of a token in the text: first, second and so on.");
  to.say(
      "A table has a position vector for each position. We add it: x = word vector + position "
      "vector. The word vector is the embedding. The position vectors are parameters, like the "
      "word vectors: training chooses their numbers. Here they are (1, 0) for the first position, "
      "(0, 0) for the second and (1, 1) for the third. 'dog' in first position has x = (1, 0) + "
      "(1, 0) = (2, 0). First 'dog bites man', then 'man bites dog':\n");
  const Sentence first = with_positions(dog_first), second = with_positions(man_first);
  to.show(bites_looks_at(first).table + "\n" + bites_looks_at(second).table);
  to.say("The vectors x are different, so the new vector of 'bites' is different, too.");
  const double distance = apart(first, second);
  to.claim(distance > 0.1, formatted("the two vectors of 'bites' are %.2f apart now", distance));
}

void distance_has_no_influence(Lesson& to) {
  to.part("Without positions the distance has no influence");
  to.define("even split", "Equal weights on all words that may be seen: 1/4 each for four words.");
  to.say(
      "'bird' sees 1001 words: 'blue' with a score of 5, and 1000 others, itself included, with a "
      "score of 0. 'blue' gets exp(5) / (exp(5) + 1000), wherever it stands. " +
      formatted("An even split would give each word 1/1001 = %.6f.\n", 1. / 1001));
  Table table = Table::of_numbers({"words from 'blue' to 'bird'", "weight of 'blue'"});
  const double expected = std::exp(5) / (std::exp(5) + 1000);
  double off = 0;
  for (const Dim before : {1, 30, 1000}) {
    Array keys = Array::zeros({1001, 1});
    keys.write()[1000 - before] = 5;
    const Array weights = attend(Array::full({1, 1}, 1), keys, keys, 1, Mask()).weights.value();
    const double weight = value_of(weights.at({0, 0, 1000 - before}));
    off = std::max(off, std::abs(weight - expected));
    table.row({std::to_string(before), formatted("%.6f", weight)});
  }
  to.show(table.text());
  to.claim(off < 1e-14, "the weight is exp(5) / (exp(5) + 1000) at each distance");
  to.slip("002", "adjacent vectors to pass information (or adjunctives) to the word vector",
          formatted("the weight is %.6f for a word 1 place away, and 1000 places away", expected),
          "a score depends on query and key; a head prefers near words only if it learns to use "
          "position vectors");
  to.say(
      "The note also says, rightly, that attention reaches beyond sentences. But the table of "
      "position vectors has a fixed number of rows, and a model reads no more words at once.");
}

/// The loss after training. The model reads "a b ?" and predicts a: 6 words, 30 pairs, '?' is 6.
double trained_loss(bool has_positions, std::uint64_t seed) {
  std::vector<Dim> texts, answers;
  for (Dim a = 0; a < 6; ++a)
    for (Dim b = 0; b < 6; ++b)
      if (a != b) texts.insert(texts.end(), {a, b, 6}), answers.push_back(a);
  const Indices ids({30, 3}, texts), targets({30}, answers);
  Rng rng(seed);
  const Tensor words = parameter(random_normal({7, 8}, 0, 1, rng));
  const Attention attention(8, 1, rng);
  const Tensor positions = parameter(random_normal({3, 8}, 0, 1, rng));
  const auto loss = [&] {
    const Tensor x = has_positions ? embedding(words, positions, ids) : embedding(words, ids);
    const Tensor y = reshape(slice(attention(x), 1, 2, 3), {30, 8});  // the new vector of '?'
    return cross_entropy(matmul_transposed(y, slice(words, 0, 0, 6)), targets);
  };
  std::vector<Tensor> all = parameters(attention);
  all.insert(all.end(), {words, positions});
  AdamW change(all, {.rate = 0.02, .decay = 0});
  for (int i = 0; i < 200; ++i) {
    change.zero_grad();
    backward(loss());
    change.step();
  }
  return loss().item();
}

void a_task(Lesson& to) {
  to.part("A model that must know the order");
  to.say(
      "A small model reads two of 6 words and a '?'. At the '?' it predicts which of the two came "
      "first. Training on all 6 x 5 = 30 pairs changes its parameters 200 times. There is no mask. "
      "A row is one seed, with the mean loss of the 30 predictions:\n");
  Table table = Table::of_numbers({"seed", "loss with positions", "loss without"});
  int learned = 0, guessed = 0;
  for (std::uint64_t seed = 1; seed <= 3; ++seed) {
    const double with = trained_loss(true, seed), without = trained_loss(false, seed);
    table.row({std::to_string(seed), formatted("%.3f", with), formatted("%.3f", without)});
    learned += with < 0.01 ? 1 : 0;
    guessed += without > std::log(2) - 1e-9 ? 1 : 0;
  }
  to.show(table.text());
  to.say(
      "Without positions, 'a b ?' and 'b a ?' get the same prediction. At best p is 0.5 for both "
      "words, and the loss is -ln 0.5 = ln 2 = 0.693. With positions the right word gets nearly p "
      "= 1.");
  to.claim_rate(learned, 3, 3, "with positions the loss is below 0.01");
  to.claim_rate(guessed, 3, 3, "without positions the loss is above ln 2");
}

void lesson(Lesson& to) {
  order_is_lost(to);
  order_is_in_the_vectors(to);
  distance_has_no_influence(to);
  a_task(to);
}

/// How much the result of each word changes if the sentence is read backwards.
void another_sentence(Lesson& to, const std::string& sentence) {
  std::istringstream in(sentence);
  std::vector<std::string> words;
  for (std::string word; in >> word;) words.push_back(word);
  if (words.size() < 3 || words.size() > 6)
    support::refuse_usage("--sentence must have 3 to 6 words: got " + std::to_string(words.size()),
                          "give for example --sentence \"cat sees mouse\"");
  std::vector<Dim> ids;  // equal words have equal numbers
  for (const std::string& word : words)
    ids.push_back(std::find(words.begin(), words.end(), word) - words.begin());
  const auto n = static_cast<Dim>(words.size());
  std::vector<Dim> numbers(words.size());
  for (Dim i = 0; i < n; ++i) numbers[static_cast<std::size_t>(i)] = n - 1 - i;
  const Indices backwards({n}, numbers);  // embedding() takes the rows in this order
  Rng rng(3);
  const Attention attention(8, 2, rng);
  const Tensor vectors = random_normal({n, 8}, 0, 1, rng), p = random_normal({n, 8}, 0, 1, rng);
  const Tensor x = embedding(vectors, Indices({n}, ids)), x_back = embedding(x, backwards);
  const Tensor without = attention(x) - embedding(attention(x_back), backwards);
  const Tensor with = attention(x + p) - embedding(attention(x_back + p), backwards);
  Table table = Table::of_numbers({"word", "no positions", "positions"});
  for (Dim i = 0; i < n; ++i)
    table.row({support::cut(support::printable(words[static_cast<std::size_t>(i)]), 20, "..."),
               formatted("%.3f", largest(row(without, i))),
               formatted("%.3f", largest(row(with, i)))});
  to.say(
      "Attention with random parameters reads the sentence forwards and backwards. For each word "
      "the table has the largest change of the 8 numbers of its result. Without positions it is "
      "0.\n");
  to.show(table.text());
}

support::Svg picture() {
  const auto start = support::Svg::Anchor::start;
  const double left = 60, bottom = 380, unit = 95;
  support::Svg svg(640, 410);
  svg.text(20, 28, "With positions 'bites' has two new vectors (large dots)", start, 16);
  for (const double at : {0., 1., 2., 3.}) {
    svg.line(left, bottom - unit * at, left + 3 * unit, bottom - unit * at, "#dddddd");
    svg.line(left + unit * at, bottom, left + unit * at, bottom - 3 * unit, "#dddddd");
  }
  for (const bool is_dog_first : {true, false}) {
    const Sentence sentence = with_positions(is_dog_first ? dog_first : man_first);
    const std::string& colour = support::svg_colours()[is_dog_first ? 0 : 1];
    const Plane mixed = bites_looks_at(sentence).mixed;
    const double x_mixed = left + unit * mixed[0], y_mixed = bottom - unit * mixed[1];
    for (const auto& [name, x] : sentence) {
      const double x_word = left + unit * x[0], y_word = bottom - unit * x[1];
      svg.line(x_word, y_word, x_mixed, y_mixed, colour, 1, !is_dog_first);
      svg.text(x_word + 5, y_word - (is_dog_first ? 6 : -14), name, start, 12, colour);
    }
    svg.circle(x_mixed, y_mixed, 8, colour);
    svg.text(370, is_dog_first ? 110 : 135, is_dog_first ? "dog bites man" : "man bites dog", start,
             14, colour);
  }
  return svg;
}

}  // namespace
}  // namespace fledge

int main(int argc, char** argv) {
  return support::run_lesson(
      argc, argv,
      {.name = "attention/06_positions",
       .title = "Positions: without them attention does not know the order of the words",
       .question =
           "'dog bites man' and 'man bites dog' have the same three words. How can attention tell "
           "the two sentences apart?",
       .prediction =
           "The vector of a word depends on the word only, and there is no mask. 'bites' looks at "
           "all three words. Does it get the same new vector in both sentences, or two different "
           "ones? Give a reason.",
       .body = fledge::lesson,
       .reading = {{"engine/ops.h", "positions", "the op that adds word and position vectors"},
                   {"nn/gpt/language_model.h", "wpe", "the table of position vectors"},
                   {"nn/layers/attention.cpp", "attend", "no line of it reads a position"}},
       .plays = {{.option = "--sentence",
                  .value = "cat sees mouse",
                  .help = "how much each word changes if your sentence is read backwards",
                  .with_text = fledge::another_sentence}},
       .picture = fledge::picture});
}
