// A network that lasts for one input: its edges are computed, and only what makes them is stored.
#include "examples/lessons/vocabulary.h"
#include "nn/layers/attention.h"

namespace fledge::lessons::in_ephemeral_network {

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
constexpr double values[3][2] = {{4, 0}, {0, 2}, {1, 3}};  // the rows of W_V (3, 2)
constexpr int stored = 9 + 9 + 6;                          // numbers in W_Q, W_K and W_V

/// A node for each word and an edge for each weight: row i of A has the edges into word i.
std::vector<Edge> network(const Input& input) {
  const Tensor X = embedding(identity(3), Indices({std::ssize(input)}, input));
  const std::vector<double> A =
      numbers(attend(matmul(X, query_matrix()), X, X, 1, causal()).weights);
  std::vector<Edge> edges;
  for (std::size_t i = 0; i < input.size(); ++i)
    for (std::size_t j = 0; j < input.size(); ++j)
      if (A[i * input.size() + j] > 0) edges.push_back({j, i, A[i * input.size() + j]});
  return edges;
}

/// Two equal words are told apart by their place: "paper 1", "paper 2".
std::string label(const Input& input, std::size_t place) {
  return formatted("%s %zu", players[static_cast<std::size_t>(input[place])], place + 1);
}

/// The words, and a line for each: the edges that end there. A longer arrow shows a larger weight.
std::string drawn(const Input& input) {
  std::string lines = "  ", line;
  for (const Dim word : input) lines += std::string(" ") + players[static_cast<std::size_t>(word)];
  lines += ":\n";
  for (const Edge& e : network(input)) {
    if (e.from == 0) line = "   " + pad_right(label(input, e.to), 10);
    const auto strokes = static_cast<std::size_t>(std::lround(6 * e.weight));
    line +=
        "  <" + std::string(strokes, '=') + formatted(" %.2f ", e.weight) + label(input, e.from);
    if (e.from == e.to) lines += wrapped(line, 80, 15) + "\n";
  }
  return lines;
}

void what_travels(LessonText& to) {
  const Input input{paper, scissors, rock};
  const std::vector<Edge> edges = network(input);
  Table table = Table::of_numbers({"   edge", "weight", "value", "weight x value"});
  double arrives[2] = {0, 0};
  for (const Edge& e : edges) {
    if (e.to != 2) continue;  // the edges into rock, the third word
    const double *v = values[input[e.from]], x = e.weight * v[0], y = e.weight * v[1];
    table.row("   %s -> %s | %.2f | (%g, %g) | (%.2f, %.2f)", label(input, e.from).c_str(),
              label(input, e.to).c_str(), e.weight, v[0], v[1], x, y);
    arrives[0] += x;
    arrives[1] += y;
  }
  const std::string sum = formatted("(%.2f, %.2f)", arrives[0], arrives[1]);
  table.row("   sum |  |  | %s", sum.c_str());
  const double e = std::exp(6 / std::sqrt(3.0)), a = e / (e + 2), b = 1 / (e + 2);
  to.set_all("edges into rock", table, "weight of scissors", a, "weight of rock", b, "sum", sum);
  to.claim("weights",
           std::abs(edges[4].weight - a) < 1e-12 && std::abs(edges[3].weight - b) < 1e-12);
  to.claim("sum at rock", std::abs(arrives[0] - (a + 4 * b)) < 1e-12 &&
                              std::abs(arrives[1] - (2 * b + 3 * a)) < 1e-12);
}

void another_input(LessonText& to) {
  to.set_all("three inputs",
             drawn({paper, scissors, rock}) + "\n" + drawn({rock, scissors, paper}) + "\n" +
                 drawn({paper, paper, rock}),
             "stored", stored);
  bool counted = true, whole = true, kept = true;
  std::vector<Input> all{{}};  // every input of 1 to 6 words
  for (std::size_t i = 0; all[i].size() < 6; ++i)
    for (const Dim player : {rock, paper, scissors}) {
      all.push_back(all[i]);
      all.back().push_back(player);
    }
  all.erase(all.begin());
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
  to.set("inputs", all.size());
  to.claim("edges", counted);
  to.claim("weights add up", whole);
  to.claim("edges are kept", kept);
  to.claim("ten words", network(Input(10, rock)).size() == 55);
}

void beside_a_stored_network(LessonText& to) {
  constexpr double persistent = 0.3;  // a parameter of a stored network: one of its nine edges
  const double met = network({paper, scissors, rock})[4].weight;  // from the second to the third
  const double missed = network({paper, paper, rock})[4].weight;
  Table table = Table::of_numbers({"   ", "linear layer", "attention"});
  table.row("   edges for three words | 9 | %zu", network(Input(3, rock)).size());
  table.row("   edges for ten words | no room | %zu", network(Input(10, rock)).size());
  table.row("   stored numbers, three words | 9 | %d", stored);
  table.row("   stored numbers, ten words | no room | %d", stored);
  table.row("   edge 2 -> 3, 'paper scissors rock' | %.2f | %.2f", persistent, met);
  table.row("   edge 2 -> 3, 'paper paper rock' | %.2f | %.2f", persistent, missed);
  to.set_all("both networks", table, "if found", met, "if missing", missed);
  to.claim("edge changes", met > 0.9 && std::abs(missed - 1.0 / 3) < 1e-15);
}

const LessonProgram program({what_travels, another_input, beside_a_stored_network});

}  // namespace fledge::lessons::in_ephemeral_network
