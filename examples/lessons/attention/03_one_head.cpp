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

/// At most three digits after the point: "1.5", "0.333".
std::string digits(double x) { return formatted("%.4g", std::round(1000 * x) / 1000); }
std::string digits(const Pair& x) { return "(" + digits(x[0]) + ", " + digits(x[1]) + ")"; }
std::string digits(const Four& x) {
  return "(" + digits(x[0]) + ", " + digits(x[1]) + ", " + digits(x[2]) + ", " + digits(x[3]) + ")";
}

constexpr Matrix<d> q = product(X, W_Q), k = product(X, W_K), v = product(X, W_V);

void three_vectors(Lesson& to) {
  to.part("Three vectors for each word");
  to.say(
      "In lesson 2 the weights were set by hand. Here they are computed from the words. A picture "
      "helps: a word asks a question, other words have labels, and a match is a large dot product. "
      "It is only a picture: no word asks anything.");
  to.define("query", "The vector that stands for what a word looks for.");
  to.define(
      "key",
      "The vector that stands for what a word can be found by; queries are compared with it.");
  to.define("value", "The vector that a word passes on; attention mixes values.");
  to.define("W_Q, W_K, W_V",
            "The matrices that make queries, keys and values from the vectors of the words.");
  to.say(
      "To multiply a vector x by a matrix, multiply the first row of the matrix by the first "
      "number of x, the second row by the second number, and so on. Then add the rows. Here x has "
      "four numbers: noun, adjective, soft, blue. If x has a 1 for noun, then (3, 0) is added to "
      "q, (0, 1) to k and (0, 0) to v. In a model the matrices are learned. Ours are set by hand; "
      "the 3 and the 2 are large, so that a match is clear.\n");
  const char* const parts[] = {"noun", "adjective", "soft", "blue"};
  Table matrices({{"x has a 1 for"}, {"W_Q adds to q"}, {"W_K adds to k"}, {"W_V adds to v"}});
  for (std::size_t c = 0; c < C; ++c)
    matrices.row({parts[c], digits(W_Q[c]), digits(W_K[c]), digits(W_V[c])});
  to.show(matrices.text());
  to.say(
      "'fluffy' is (0, 1, 1, 0), an adjective and soft. Its key is the row of 'adjective' plus "
      "that of 'soft': (2, 0) + (0, 0) = (2, 0). All words:\n");
  Table table({{"word"}, {"x"}, {"query q"}, {"key k"}, {"value v"}});
  for (std::size_t i = 0; i < n; ++i)
    table.row({words[i], digits(X[i]), digits(q[i]), digits(k[i]), digits(v[i])});
  to.show(table.text());
  to.say(
      "The first number of a key means 'adjective', the second 'noun'. The query of 'bird', (3, "
      "0), matches keys of adjectives. The two numbers of a value mean soft and blue.");
  to.claim(q[3] == Pair{3, 0} && k[1] == Pair{2, 0} && k[1] == k[2],
           "'bird' has the query (3, 0); 'fluffy' and 'blue' have the key (2, 0)");
}

void show_row(Lesson& to, const Row& row) {
  Table table(
      {{"'bird' looks at"}, {"q.k"}, {"score"}, {"exp(score)"}, {"weight"}, {"weight * value"}});
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
  to.define("head",
            "One attention with its own W_Q, W_K and W_V; a model may have several side by side.");
  to.define("head size",
            "How many numbers a query, a key or a value of one head has; often written d_k or D.");
  to.define("score",
            "The dot product of a query and a key, divided by the square root of the head size.");
  to.define(
      "scale",
      "The number by which q.k is multiplied to give the score: 1 divided by the square root of "
      "the head size.");
  to.say("exp(s) is 2.718 to the power s. It is positive for every s, and exp(0) = 1.");
  to.define("softmax",
            "exp of each score, divided by the sum of all exp: positive numbers that add up to 1.");
  to.say(
      "The softmax of the scores gives the weights. The head size is 2, and sqrt(2) = 1.414. "
      "Lesson 4 shows why we divide. 'bird' has q = (3, 0):\n");
  const Row row = look(3, q[3], k, v);
  show_row(to, row);
  to.say(
      "For 'fluffy', q.k = 3 * 2 + 0 * 0 = 6, and the score is 6 / 1.414 = 4.243. exp of it is "
      "69.591. The sum of all exp is 141.183, so the weight is 69.591 / 141.183 = 0.4929. The last "
      "column is the weight times the value; its sum is what 'bird' receives. If you predicted 0.5 "
      "for both adjectives, you are close. The weight of 'the' is not 0: its score of 0 still "
      "counts exp(0) = 1. In lesson 1, some weights set by hand were exactly 0.\nIn lesson 2 the "
      "sum replaced the vector. Here it is added to x, as in the model of lesson 1, so x is not "
      "lost. The sum has two numbers, x has four. We choose by hand: the first is added to soft, "
      "the second to blue. So we write two zeros in front, for noun and adjective.\n   (1, 0, 0, "
      "0) + (0, 0, 0.493, 0.493) = " +
      digits(becomes(3, row)) + "\nNow 'bird' is a noun with soft and blue: a fluffy blue bird.");
  const double w = 1 / (2 + 2 * std::exp(-6 / std::sqrt(2.0)));
  to.claim(std::abs(row.received[0] - w) + std::abs(row.received[1] - w) < 1e-12 &&
               std::abs(row.exps[1] - 69.6) < 0.05 && std::abs(row.sum - 141.2) < 0.05,
           formatted("'bird' receives %.3f / %.3f = %.4f of soft and of blue", row.exps[1], row.sum,
                     row.received[0]));
}

void all_rows(Lesson& to) {
  to.part("All four rows");
  to.say(
      "Each word sees itself and earlier words. The sum of its softmax has only these words, so "
      "the weights of later words are 0. A dot stands for a later word.\n");
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
      "All words that 'fluffy' and 'blue' see have the score 0, so their weights are equal. The "
      "query of 'fluffy' and 'blue', (0, 1), matches the key of a noun, but 'bird' comes later. "
      "'blue' receives 1/3 of (0, 0), 1/3 of (1, 0) and 1/3 of (0, 1): (0.333, 0.333). Added to "
      "(0, 1, 0, 1) this is (0, 1, 0.333, 1.333). 'the' sees only itself.\nAll four words at once: "
      "each row of the table of weights is multiplied by the table of values, as x by a matrix. "
      "This is a table times a table.");
  to.claim(worst < 1e-12, "attend(), the attention of fledge, gives the same for all four words");
  const Tensor A = reshape(weights, {4, 4});
  to.claim(!common_shape(A.shape(), V.shape()),
           "a table of 4 x 4 weights and a table of 4 x 2 values cannot be added");
  const Tensor AV = matmul(A, V);
  const auto size = [](const Tensor& t) {
    return std::to_string(t.shape()[0]) + " x " + std::to_string(t.shape()[1]);
  };
  to.slip("002", "we add the value matrix to the products",
          "a table of " + size(A) + " weights times a table of " + size(V) +
              " values is a table of " + size(AV) + "; plus is refused",
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
  to.say("'bird' becomes " + digits(becomes(3, row)) +
         ". Try 0,0 for equal weights, 0,9 to look at the noun, and -3,0 to avoid adjectives. No "
         "query can give 'fluffy' and 'blue' different weights: their keys are equal.");
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
           "In 'the fluffy blue bird', 'bird' gives each of the four words a weight. It looks for "
           "adjectives: the match is 6 for 'fluffy', 6 for 'blue', 0 for 'the' and 0 for itself. "
           "Guess the four weights; they add up to 1. Is the weight of 'the' exactly 0?",
       .body = fledge::lesson,
       .reading = {{"nn/layers/attention.cpp", "attend", "attention, for any number of heads"},
                   {"engine/ops/softmax.cpp", "softmax", "the formula"},
                   {"nn/layers/attention.h", "c_attn", "W_Q, W_K and W_V as one matrix"}},
       .plays = {{.option = "--query",
                  .value = "0,3",
                  .help = "another query for 'bird': its weights and what it becomes",
                  .with_text = fledge::try_query}},
       .picture = fledge::picture});
}
