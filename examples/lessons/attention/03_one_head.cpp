// One head: query, key and value, with every number of 'the fluffy blue bird'.
//
// Works out items 002.7, 002.8, 002.15, 002.16 and 004.13 of examples/NOTES.md.
// Key idea: a_ij = softmax over j of q_i·k_j/√d, and word i receives Σ_j a_ij·v_j. The query and the
// keys give the weights of lesson 2; the values are what the weights mix.
// Words are rows here and columns in the note. Next: 04_softmax; nn/layers/attention.h.
#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <string>

#include "engine/array_math.h"
#include "examples/lessons/lesson_page.h"
#include "examples/support/table.h"
#include "examples/support/text.h"
#include "nn/layers/attention.h"

namespace fledge {
namespace {

using support::formatted, support::Lesson, support::Table;

constexpr std::size_t n = 4, C = 4, d = 2;  // words; numbers of a word; the head size
using Pair = std::array<double, d>;
using Four = std::array<double, C>;
template <std::size_t columns>
using Matrix = std::array<std::array<double, columns>, 4>;

const char* const words[] = {"the", "fluffy", "blue", "bird"};
// x: noun, adjective, soft, blue
constexpr Matrix<C> X{{{0, 0, 0, 0}, {0, 1, 1, 0}, {0, 1, 0, 1}, {1, 0, 0, 0}}};
constexpr Matrix<d> W_Q{{{3, 0}, {0, 1}, {0, 0}, {0, 0}}};  // a noun looks for adjectives
constexpr Matrix<d> W_K{{{0, 1}, {2, 0}, {0, 0}, {0, 0}}};  // (adjective, noun)
constexpr Matrix<d> W_V{{{0, 0}, {0, 0}, {1, 0}, {0, 1}}};  // soft and blue are passed on

/// x·W: each number of x times its row of W, added up.
constexpr Matrix<d> product(const Matrix<C>& x, const Matrix<d>& W) {
  Matrix<d> y{};
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t c = 0; c < C; ++c)
      for (std::size_t m = 0; m < d; ++m) y[i][m] += x[i][c] * W[c][m];
  return y;
}

/// One row of the head; word i sees the words 0 … i.
struct Row {
  Four products{}, scores{}, exps{}, weights{};  // for each word j
  double sum = 0;
  Pair received{};
};

Row look(std::size_t i, const Pair& q, const Matrix<d>& k, const Matrix<d>& v) {
  Row row;
  for (std::size_t j = 0; j <= i; ++j) {
    row.products[j] = q[0] * k[j][0] + q[1] * k[j][1];
    row.scores[j] = row.products[j] / std::sqrt(double{d});
    row.exps[j] = std::exp(row.scores[j]);
    row.sum += row.exps[j];
  }
  for (std::size_t j = 0; j <= i; ++j) {
    row.weights[j] = row.exps[j] / row.sum;
    for (std::size_t m = 0; m < d; ++m) row.received[m] += row.weights[j] * v[j][m];
  }
  return row;
}

/// x + what the word received: soft and blue are the last two numbers of x.
Four becomes(std::size_t i, const Row& row) {
  return {X[i][0], X[i][1], X[i][2] + row.received[0], X[i][3] + row.received[1]};
}

std::string digits(const Pair& x) { return formatted("(%.3g, %.3g)", x[0], x[1]); }
std::string digits(const Four& x) {
  return formatted("(%.3g, %.3g, %.3g, %.3g)", x[0], x[1], x[2], x[3]);
}

constexpr Matrix<d> q = product(X, W_Q), k = product(X, W_K), v = product(X, W_V);

void three_vectors(Lesson& to) {
  to.part("Three vectors for each word");
  to.say(
      "Lesson 2 took the weights as given. Here they are computed from the words. A picture helps: a "
      "word asks a question, other words have labels, and a match is a large dot product. It is only "
      "a picture: no word asks anything.");
  to.define("query", "The vector of the word that looks; it is compared with the keys.");
  to.define("key", "The vector of a word that queries are compared with.");
  to.define("value", "The vector of a word that is mixed by the attention weights.");
  to.define("W_Q, W_K, W_V",
            "The matrices that make queries, keys and values from the vectors of the words.");
  to.say(
      "In a model the three matrices are learned; here they are set by hand. The vector x of a word "
      "has four numbers: noun, adjective, soft, blue. Each row of this table has what one of these "
      "numbers adds to q, k and v:\n");
  const char* const parts[] = {"noun", "adjective", "soft", "blue"};
  Table matrices({{"x has a 1 for"}, {"row of W_Q"}, {"row of W_K"}, {"row of W_V"}});
  for (std::size_t c = 0; c < C; ++c)
    matrices.row({parts[c], digits(W_Q[c]), digits(W_K[c]), digits(W_V[c])});
  to.show(matrices.text());
  to.say(
      "'fluffy' is (0, 1, 1, 0), an adjective and soft. Its key is the row of 'adjective' plus the "
      "row of 'soft': (2, 0) + (0, 0) = (2, 0). All words in this way:\n");
  Table table({{"word"}, {"x"}, {"query q"}, {"key k"}, {"value v"}});
  for (std::size_t i = 0; i < n; ++i)
    table.row({words[i], digits(X[i]), digits(q[i]), digits(k[i]), digits(v[i])});
  to.show(table.text());
  to.say(
      "The first number of a key means 'adjective', the second 'noun'. The query of 'bird', (3, 0), "
      "matches keys of adjectives. The two numbers of a value mean soft and blue.");
  to.claim(q[3] == Pair{3, 0} && k[1] == Pair{2, 0} && k[1] == k[2],
           "the query of 'bird' is (3, 0); 'fluffy' and 'blue' have the same key, (2, 0)");
}

void show_row(Lesson& to, const Row& row) {
  Table table(
      {{"'bird' looks at"}, {"q.k"}, {"/ sqrt(2)"}, {"exp"}, {"/ sum"}, {"weight * value"}});
  const double all = std::accumulate(row.weights.begin(), row.weights.end(), 0.0);
  for (std::size_t j = 0; j < n; ++j)
    table.row({words[j], formatted("%.3g", row.products[j]), formatted("%.3f", row.scores[j]),
               formatted("%.3f", row.exps[j]), formatted("%.4f", row.weights[j]),
               digits(Pair{row.weights[j] * v[j][0], row.weights[j] * v[j][1]})});
  table.row(
      {"sum", "", "", formatted("%.3f", row.sum), formatted("%.4f", all), digits(row.received)});
  to.show(table.text());
}

void one_row(Lesson& to) {
  to.part("From a query to a new vector: the row of 'bird'");
  to.define("head size",
            "How many numbers a query, a key or a value of one head has; often written d_k or D.");
  to.define("head",
            "One attention with its own W_Q, W_K and W_V; a model may have several side by side.");
  to.define(
      "scale",
      "The division of scores by the square root of the head size, so that they stay near 1 in size.");
  to.define("score",
            "The dot product of a query and a key, scaled; the softmax turns scores into weights.");
  to.define("softmax",
            "exp of each score, divided by the sum of all exp: positive numbers that add up to 1.");
  to.say(
      "Our head size is 2, so scores are divided by sqrt(2) = 1.414; lesson 4 shows why. exp(s) is "
      "2.718 to the power s. It is positive even if s is negative, and exp(0) = 1. 'bird' has q = (3, "
      "0):\n");
  const Row row = look(3, q[3], k, v);
  show_row(to, row);
  to.say(
      "For 'fluffy': q.k = 3 * 2 + 0 * 0 = 6, 6 / 1.414 = 4.243, exp(4.243) = 69.6, and 69.6 / 141.2 "
      "= 0.493. The last column is the weight times the value; its sum is what 'bird' receives. If "
      "you predicted 0.5 for both adjectives, you are close. A softmax leaves a little for every "
      "word: a score of 0 still counts exp(0) = 1.\n"
      "The result is added to x: its first number to soft, its second to blue.\n"
      "   (1, 0, 0, 0) + (0, 0, 0.493, 0.493) = " +
      digits(becomes(3, row)) +
      "\n'bird' was only a noun. Now its vector also has soft and blue: a fluffy blue bird.");
  const double w = 1 / (2 + 2 * std::exp(-6 / std::sqrt(2.0)));
  to.claim(std::abs(row.received[0] - w) + std::abs(row.received[1] - w) < 1e-12 &&
               std::abs(row.exps[1] - 69.6) < 0.05 && std::abs(row.sum - 141.2) < 0.05,
           formatted("'bird' receives 1 / (2 + 2 exp(-6 / sqrt 2)) = %.4f of soft and of blue", w));
}

void all_rows(Lesson& to) {
  to.part("All four rows");
  to.say(
      "Each word sees itself and earlier words. A dot stands for a later word. Words that look are "
      "rows here; the note behind this lesson has them in columns.\n");
  const auto tensor = [](const Matrix<d>& m) -> Tensor {
    return Array({4, 2}, {m[0][0], m[0][1], m[1][0], m[1][1], m[2][0], m[2][1], m[3][0], m[3][1]});
  };
  const Tensor V = tensor(v);
  const auto [mixed, weights] = attend(tensor(q), tensor(k), V, 1, causal());
  double worst = 0;
  Table table({{"looks at"}, {"the"}, {"fluffy"}, {"blue"}, {"bird"}, {"becomes"}});
  for (std::size_t i = 0; i < n; ++i) {
    const Row row = look(i, q[i], k, v);
    const auto cell = [&](std::size_t j) {
      return j > i ? "." : formatted("%.3f", row.weights[j]);
    };
    table.row({words[i], cell(0), cell(1), cell(2), cell(3), digits(becomes(i, row))});
    for (std::size_t m = 0; m < d; ++m)
      worst =
          std::max(worst, std::abs(value_of(mixed.value().at({Dim(i), Dim(m)})) - row.received[m]));
  }
  to.show(table.text());
  to.say(
      "'fluffy' and 'blue' have the query (0, 1). It matches the key of a noun, but 'bird' comes "
      "later. The other scores are all 0, so the weights are equal. 'the' sees only itself.");
  to.claim(worst < 1e-12, "fledge's attend() gives the same sums for all four words");
  const Tensor A = reshape(weights, {4, 4});
  to.claim(!common_shape(A.shape(), V.shape()),
           "four weights for each word and two numbers for each value cannot be added");
  to.slip("002", "we add the value matrix to the products",
          to_string(A.shape()) + " times " + to_string(V.shape()) + " is " +
              to_string(matmul(A, V).shape()) + ", plus is refused",
          "the next paragraph of the note has it right: \"matrix multiplication\"");
}

void lesson(Lesson& to) {
  three_vectors(to);
  one_row(to);
  all_rows(to);
}

/// --query "0,3"
void try_query(Lesson& to, const std::string& text) {
  Pair query{};
  const std::size_t comma = std::min(text.find(','), text.size());
  const std::string second = comma < text.size() ? text.substr(comma + 1) : "";
  if (!support::number_variable(query[0], {-9, 9}).set(text.substr(0, comma)).empty() ||
      !support::number_variable(query[1], {-9, 9}).set(second).empty())
    support::refuse_usage(
        "--query needs two numbers from -9 to 9, and has " + support::quoted(text),
        "write --query 0,3");
  const Row row = look(3, query, k, v);
  to.say("'bird' with the query " + digits(query) +
         ". Keys: 'the' (0, 0), 'fluffy' and 'blue' (2, 0), 'bird' (0, 1).\n");
  show_row(to, row);
  to.say(
      "'bird' becomes " + digits(becomes(3, row)) +
      ". Try 0,0 for equal weights, 0,9 to look at the noun, and -3,0 to avoid adjectives. No query "
      "can tell 'fluffy' from 'blue': their keys are equal.");
}

/// Values flow from the words on the left to 'bird'; lines are as thick as the weights.
support::Svg picture() {
  support::Svg svg(690, 420);
  using Anchor = support::Svg::Anchor;
  const std::string &blue = support::svg_colours()[0], &orange = support::svg_colours()[1];
  const Row row = look(3, q[3], k, v);
  constexpr double from = 300, to = 455, middle = 240;
  svg.text(20, 30, "One head: what 'bird' receives", Anchor::start, 17);
  svg.text(20, 52, "The thicker the line, the larger the weight of a word", Anchor::start, 13);
  svg.text(20, 95, "word", Anchor::start, 13);
  svg.text(100, 95, "key", Anchor::start, 13, blue);
  svg.text(185, 95, "value", Anchor::start, 13, orange);
  for (std::size_t j = 0; j < n; ++j) {
    const double y = 135 + 70 * double(j), w = row.weights[j];
    svg.text(20, y, words[j], Anchor::start, 16);
    svg.text(100, y, digits(k[j]), Anchor::start, 15, blue);
    svg.text(185, y, digits(v[j]), Anchor::start, 15, orange);
    svg.line(from, y - 5, to, middle, orange, 0.5 + 16 * w);
    svg.text(from - 8, y, formatted("%.3f", w), Anchor::end, 13);
  }
  svg.text(to + 15, middle - 40, "'bird', query " + digits(q[3]), Anchor::start, 15, blue);
  svg.text(to + 15, middle + 5, "receives " + digits(row.received), Anchor::start, 15, orange);
  svg.text(to + 15, middle + 50, "becomes " + digits(becomes(3, row)), Anchor::start, 15);
  svg.text(to + 15, middle + 70, "noun, adjective, soft, blue", Anchor::start, 12);
  return svg;
}

}  // namespace
}  // namespace fledge

int main(int argc, char** argv) {
  return support::run_lesson(
      argc, argv,
      {.name = "attention/03_one_head",
       .title = "One head: query, key and value, with every number",
       .question = "Where do attention weights come from, and what do words pass on to each other?",
       .prediction =
           "In 'the fluffy blue bird', 'bird' gives each of the four words a weight, by how well the "
           "words match what it looks for: adjectives. The match is 6 for 'fluffy', 6 for 'blue', 0 "
           "for 'the' and 0 for itself. Guess the four weights; they add up to 1.",
       .body = fledge::lesson,
       .reading = {{"nn/layers/attention.cpp", "attend", "the five lines, for any number of heads"},
                   {"engine/ops/softmax.cpp", "softmax", "the formula and its gradient"},
                   {"nn/layers/attention.h", "c_attn", "W_Q, W_K and W_V as one matrix"}},
       .plays = {{.option = "--query",
                  .value = "0,3",
                  .help = "another query for 'bird': its weights and what it becomes",
                  .with_text = fledge::try_query}},
       .picture = fledge::picture});
}
