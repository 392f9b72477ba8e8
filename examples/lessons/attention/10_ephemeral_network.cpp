// A network that lasts for one input: its edges are computed, and only what makes them is stored.
//
// Works out note 004, "Poorly Structured Notes on AI": items 004.7 to 004.9 and 004.14 of
// examples/NOTES.md. Key idea: nodes are words, edges are weights, and values travel along
// the edges to the word that looks. W_Q, W_K and W_V stay; the next input makes another network.
// Next: 11_copy_and_average.cpp; nn/gpt/decoder.h, which adds one node at a time.
#include <algorithm>
#include <array>
#include <cmath>
#include <sstream>

#include "examples/lessons/lesson_page.h"
#include "examples/support/errors.h"
#include "examples/support/table.h"
#include "nn/layers/attention.h"

namespace fledge {

namespace {

using support::formatted, support::Lesson, support::Table;

constexpr std::array players{"rock", "paper", "scissors"};
constexpr Dim rock = 0, paper = 1, scissors = 2;
using Input = std::vector<Dim>;

struct Edge {
  std::size_t from, to;  // places in the input: the word looked at, and the word that looks
  double weight;
  bool operator==(const Edge&) const = default;
};

// Words are one-hot. The query of a player is 6 times the vector of its victim, its key is its own
// vector. So its score for the victim is 6/√3 = 3.46, and its other scores are 0.
Tensor query_matrix() { return Array({3, 3}, {0, 0, 6, 6, 0, 0, 0, 6, 0}); }
Tensor key_matrix() { return Array({3, 3}, {1, 0, 0, 0, 1, 0, 0, 0, 1}); }
constexpr double values[3][2] = {{4, 0}, {0, 2}, {1, 3}};  // the rows of W_V (3, 2)
constexpr int stored = 9 + 9 + 6;                          // numbers in W_Q, W_K and W_V

/// A node for each word and an edge for each weight: row i of A has the edges into word i.
std::vector<Edge> network(const Input& input) {
  const Tensor X = embedding(key_matrix(), Indices({static_cast<Dim>(input.size())}, input));
  const Tensor Q = matmul(X, query_matrix()), K = matmul(X, key_matrix());
  const std::vector<double> A = to_vector(attend(Q, K, X, 1, causal()).weights.value());
  std::vector<Edge> edges;
  for (std::size_t i = 0; i < input.size(); ++i)
    for (std::size_t j = 0; j <= i; ++j) edges.push_back({j, i, A[i * input.size() + j]});
  return edges;
}

/// Two equal words are told apart by their place: "paper 1", "paper 2".
std::string label(const Input& input, std::size_t place) {
  return formatted("%s %zu", players[static_cast<std::size_t>(input[place])], place + 1);
}

const double* value_of(const Input& input, std::size_t place) { return values[input[place]]; }

/// A line for each word: the edges that end there. A longer arrow shows a larger weight.
std::string drawn(const Input& input) {
  std::string lines, line;
  for (const Edge& e : network(input)) {
    if (e.from == 0) line = "   " + support::pad_right(label(input, e.to), 10);
    const auto strokes = static_cast<std::size_t>(std::lround(6 * e.weight));
    line +=
        "  <" + std::string(strokes, '=') + formatted(" %.2f ", e.weight) + label(input, e.from);
    if (e.from == e.to) lines += support::wrapped(line, 80, 15) + "\n";
  }
  return lines;
}

void what_travels(Lesson& to) {
  to.part("What travels along an edge");
  to.define("node", "A point of a network.");
  to.define("edge", "A connection from one node to another; it can have a number, its strength.");
  to.define("one-hot", "Said of a vector with one 1 and zeros elsewhere.");
  to.say(
      "\nThe words are one-hot: rock (1, 0, 0), paper (0, 1, 0), scissors (0, 0, 1). Each player "
      "looks for its victim, the one that it beats. W_Q is set by hand: the query of a player is 6 "
      "times the vector of its victim. The key is the word's own vector. So the score for the "
      "victim is 6/sqrt(3) = 3.464, and other scores are 0. The rows of W_V are the values: rock "
      "(4, 0), paper (0, 2), scissors (1, 3).\nThe input is 'paper scissors rock'. Its nodes are "
      "the three words; 'rock 3' is rock in the third place. Each word sees itself and earlier "
      "words. Rock beats scissors, so its weights are\n \n   exp(0) = 1 for paper, exp(3.464) = "
      "31.95 for scissors, exp(0) = 1 for rock;\n   divided by the sum 33.95: 0.03, 0.94 and "
      "0.03.\n \nEach weight is the strength of an edge. The word that is looked at sends its "
      "value, times the weight, along the edge. It goes to the word that looks. In lesson 9 an "
      "arrow began at the word that looks; here it ends there.\n");
  const Input input{paper, scissors, rock};
  const std::vector<Edge> edges = network(input);
  Table table = Table::of_numbers({"   edge", "weight", "value", "weight x value"});
  double arrives[2] = {0, 0};
  for (const Edge& e : edges) {
    if (e.to != 2) continue;  // the edges into rock, the third word
    const double *v = value_of(input, e.from), x = e.weight * v[0], y = e.weight * v[1];
    table.row({"   " + label(input, e.from) + " -> " + label(input, e.to),
               formatted("%.2f", e.weight), formatted("(%g, %g)", v[0], v[1]),
               formatted("(%.2f, %.2f)", x, y)});
    arrives[0] += x;
    arrives[1] += y;
  }
  table.row({"   sum", "", "", formatted("(%.2f, %.2f)", arrives[0], arrives[1])});
  to.show(table.text());
  to.say(
      "The sum is what attention gives to the word. Rock receives nearly the value of scissors.\n");
  const double e = std::exp(6 / std::sqrt(3.0)), a = e / (e + 2), b = 1 / (e + 2);
  to.claim(std::abs(edges[4].weight - a) < 1e-12 && std::abs(edges[3].weight - b) < 1e-12,
           formatted("weights of rock: exp(3.464)/33.95 = %.2f, and 1/33.95 = %.2f twice", a, b));
  to.claim(
      std::abs(arrives[0] - (a + 4 * b)) < 1e-12 && std::abs(arrives[1] - (2 * b + 3 * a)) < 1e-12,
      formatted("at rock arrives (%.2f, %.2f)", arrives[0], arrives[1]));
}

/// Every input of 1 to `longest` words.
std::vector<Input> inputs(std::size_t longest) {
  std::vector<Input> found{{}};
  for (std::size_t i = 0; found[i].size() < longest; ++i)
    for (const Dim player : {rock, paper, scissors}) {
      found.push_back(found[i]);
      found.back().push_back(player);
    }
  found.erase(found.begin());
  return found;
}

void another_input(Lesson& to) {
  to.part("Another input, another network");
  to.say(
      "Here are three inputs. A line begins with the word that looks. To the right are the edges "
      "that end at this word. A longer arrow shows a larger weight.");
  for (const Input& input :
       {Input{paper, scissors, rock}, {rock, scissors, paper}, {paper, paper, rock}})
    to.show("\n" + drawn(input).substr(0, drawn(input).size() - 1));
  to.say(
      formatted("\nW_Q, W_K and W_V were the same 9 + 9 + 6 = %d numbers each time. ", stored) +
      "The first and the second input have the same words in another order, and their edges "
      "differ. The vector of a word does not depend on its place here. The order still matters: "
      "each word sees only itself and earlier words, and in another order these are other words. "
      "Word number i has i edges, so n words have 1 + 2 + ... + n = n (n + 1)/2 edges.\nIf you "
      "predicted 6 and 55 arrows, and no further stored number, you were right.\n");
  bool counted = true, whole = true, kept = true;
  const std::vector<Input> all = inputs(6);
  for (const Input& input : all) {
    const std::vector<Edge> edges = network(input);
    counted = counted && edges.size() == input.size() * (input.size() + 1) / 2;
    std::vector<double> arriving(input.size());
    for (const Edge& e : edges) arriving[e.to] += e.weight;
    for (const double sum : arriving) whole = whole && std::abs(sum - 1) < 1e-13;
    if (input.size() == 1) continue;
    const std::vector<Edge> before = network(Input(input.begin(), input.end() - 1));
    kept = kept && std::equal(before.begin(), before.end(), edges.begin());
  }
  to.say(formatted(
      "The program builds the networks of all %zu inputs of one to six words, and one of ten "
      "words:\n",
      all.size()));
  to.claim(counted, "n words have n (n + 1)/2 edges");
  to.claim(whole, "the weights of the edges that end at one word add up to 1");
  to.claim(kept, "a further word at the end adds edges, and leaves all earlier edges as they are");
  to.claim(network(Input(10, rock)).size() == 55, "ten words have 55 edges");
}

/// A stored network: three numbers in, three out, and a parameter for each of its nine edges.
constexpr double persistent[3][3] = {{0.8, 0.1, 0.5}, {0.2, 0.9, 0.3}, {0.4, 0.6, 0.7}};

void beside_a_stored_network(Lesson& to) {
  to.part("Beside it: a network that is stored");
  to.define(
      "activation",
      "A number that the model computes from its input; unlike a parameter, it is not stored.");
  to.say(
      "\nIn an older kind of network each edge has a stored number, a parameter. Our example takes "
      "one number for each of three words. Three numbers come out, so there are 3 x 3 edges. "
      "Training changes their numbers; an input does not. The table below shows one of them, "
      "0.30.\nIn attention the strengths of the edges are activations. Training changes W_Q and "
      "W_K, which make the strengths, and W_V, which makes what travels.\n");
  const auto edge = [](const Input& input) {
    return formatted("%.2f", network(input)[4].weight);  // from the second word to the third
  };
  Table table = Table::of_numbers({"   ", "stored network", "attention"});
  table.row({"   edges for three words", "9", formatted("%zu", network(Input(3, rock)).size())});
  table.row({"   edges for ten words", "ten do not fit",
             formatted("%zu", network(Input(10, rock)).size())});
  table.row({"   stored numbers, three words", "9", formatted("%d", stored)});
  table.row({"   stored numbers, ten words", "ten do not fit", formatted("%d", stored)});
  table.row({"   edge 2 -> 3, 'paper scissors rock'", formatted("%.2f", persistent[1][2]),
             edge({paper, scissors, rock})});
  table.row({"   edge 2 -> 3, 'paper paper rock'", formatted("%.2f", persistent[1][2]),
             edge({paper, paper, rock})});
  to.show(table.text());
  const double met = network({paper, scissors, rock})[4].weight;
  const double missed = network({paper, paper, rock})[4].weight;
  to.say(
      "The stored edge is the same for both inputs. The edge of attention is large if the second "
      "word is what rock looks for.\nNote 004 says that the network is made to suit the length of "
      "the input. This is right: it has as many nodes as the input has words. The words give the "
      "weights.\n");
  to.claim(met > 0.9 && std::abs(missed - 1.0 / 3) < 1e-15,
           formatted("same length, other words: the edge has %.2f or %.2f", met, missed));
}

void network_of(Lesson& to, const std::string& text) {
  std::istringstream words(text);
  Input input;
  for (std::string word; words >> word;) {
    const auto found = std::find(players.begin(), players.end(), word);
    if (found == players.end())
      support::refuse_usage("--words knows rock, paper and scissors: got " + support::quoted(word),
                            "give for example --words 'rock paper rock'");
    input.push_back(found - players.begin());
  }
  if (input.empty() || input.size() > 8)
    support::refuse_usage(formatted("--words needs 1 to 8 words: got %zu", input.size()),
                          "give for example --words 'rock paper rock'");
  to.say("Each line begins with the word that looks. Behind it stand the edges that end there:\n");
  to.show(drawn(input));
  to.say(
      "See how the strongest edges into a word come from the word that it beats. If that word is "
      "missing, the word looks at all words equally.");
}

/// Edges go up, from the word that is looked at to the word that looks, as thick as their weights.
void draw(support::Svg& svg, double left, double top, const std::array<std::string, 3>& labels,
          const std::vector<Edge>& edges, const std::string& colour) {
  const auto x = [&](std::size_t i) { return left + 110 * static_cast<double>(i); };
  for (const Edge& e : edges)
    svg.arrow(x(e.from), top + 120, x(e.to), top + 20, colour, std::max(0.6, 7 * e.weight), 0.7);
  for (std::size_t i = 0; i < 3; ++i)
    for (const double y : {top + 12, top + 136})
      svg.text(x(i), y, labels[i], support::Svg::Anchor::middle);
}

support::Svg picture() {
  support::Svg svg(690, 420);
  svg.text(15, 26, "Attention: edges are computed", {}, 15);
  svg.text(380, 26, "Classical: edges are stored", {}, 15);
  std::vector<Edge> fixed;
  for (std::size_t j = 0; j < 3; ++j)
    for (std::size_t i = 0; i < 3; ++i) fixed.push_back({j, i, persistent[j][i]});
  double top = 45;
  for (const Input& input : {Input{paper, scissors, rock}, {paper, paper, rock}}) {
    draw(svg, 60, top, {label(input, 0), label(input, 1), label(input, 2)}, network(input),
         support::svg_colours()[0]);
    draw(svg, 420, top, {"number 1", "number 2", "number 3"}, fixed, support::svg_colours()[1]);
    top += 170;
  }
  svg.text(15, 390, "Edges go up, to the word that looks. Thick edges have large weights.");
  svg.text(15, 410, "The second input is below the first. Only the left network changes.");
  return svg;
}

void lesson(Lesson& to) {
  what_travels(to);
  another_input(to);
  beside_a_stored_network(to);
}

}  // namespace

}  // namespace fledge

int main(int argc, char** argv) {
  return support::run_lesson(
      argc, argv,
      {.name = "attention/10_ephemeral_network",
       .title = "A network that lasts for one input",
       .question =
           "Attention can be drawn as a network: words with arrows between them. What travels "
           "along the arrows? Which numbers of the network does a model store?",
       .prediction =
           "Draw an arrow to each word from every word that it looks at: itself, and all earlier "
           "words. How many arrows do three words have, and how many do ten? How many more numbers "
           "must the model store for a text of ten words than for one of three?",
       .body = fledge::lesson,
       .reading = {{"nn/layers/attention.cpp", "attend", "scores, weights, and the sum of values"},
                   {"nn/layers/attention.h", "Attention", "what is stored: the matrices"},
                   {"nn/gpt/decoder.h", "Decoder",
                    "a longer text adds edges and keeps the old ones"}},
       .plays = {{.option = "--words",
                  .value = "rock paper rock",
                  .help = "the network of your own words: rock, paper and scissors",
                  .with_text = fledge::network_of}},
       .picture = fledge::picture});
}
