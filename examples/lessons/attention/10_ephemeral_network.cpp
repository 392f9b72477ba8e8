// A network that lives for one input.                     Note 004, "Poorly Structured Notes on AI"
//
// Adds to lesson 07_why_q_and_k its patterns as networks: each word of an input is a node, each
// weight an edge, as thick as it is large. Nothing of such a network is stored. W_Q and W_K are,
// and every input makes its own; under a causal mask a longer one keeps that of its beginning.
// Key idea: what is learnt is not a network, but how to make one for whatever comes.
// Next: nn/gpt/decoder.h, which lives on that; examples/support/plots.h, the same as a map.
#include <algorithm>
#include <cmath>
#include <cstring>

#include "examples/lessons/lesson.h"
#include "nn/layers/attention.h"

namespace fledge {

namespace {

using support::formatted, support::Lesson;

constexpr Dim rock = 0, paper = 1, scissors = 2;
using Input = std::vector<Dim>;

const char* name(Dim player) {
  return player == rock ? "rock" : player == paper ? "paper" : "scissors";
}

struct Edge {
  std::size_t from, to;  // the word that looks, the word it looks at: places in the input
  double weight;
  bool operator==(const Edge&) const = default;
};

/// A node for each word, an edge for each weight. Each player asks for the one it beats: with words
/// one-hot, q = 6·beaten and k = the word itself, so that its score is 6/√3 and all others are 0.
std::vector<Edge> network(const Input& input) {
  const Tensor words = Array({3, 3}, {1, 0, 0, 0, 1, 0, 0, 0, 1}), W_K = words;
  const Tensor W_Q = Array({3, 3}, {0, 0, 6, 6, 0, 0, 0, 6, 0});
  const Tensor X = embedding(words, Indices({static_cast<Dim>(input.size())}, input));
  const AttentionOutput attended = attend(matmul(X, W_Q), matmul(X, W_K), X, 1, causal());
  const std::vector<double> weights = to_vector(attended.weights.value());
  std::vector<Edge> edges;
  for (std::size_t i = 0; i < weights.size(); ++i)
    if (weights[i] > 0) edges.push_back({i / input.size(), i % input.size(), weights[i]});
  return edges;
}

/// Four strokes of growing thickness.
const char* stroke(double weight) {
  return weight < 0.1 ? "..." : weight < 0.4 ? "---" : weight < 0.7 ? "===" : "###";
}

/// A line for each node: its edges, and the words that they lead to.
std::string drawn(const Input& input) {
  std::string lines;
  for (const Edge& e : network(input)) {
    if (e.to == 0) lines += formatted("\n   %-8s", name(input[e.from]));
    lines += formatted("  %s> %s %.2f", stroke(e.weight), name(input[e.to]), e.weight);
  }
  return lines;
}

std::string escaped(std::string_view text) {
  std::string safe;
  for (const char c : text)
    safe += std::strchr("&<>\"'", c) ? formatted("&#%d;", c) : std::string(1, c);
  return safe;
}

constexpr double widest = 12;  // of a line whose weight is 1

/// The same as SVG: words in a line, over them an arc for each edge, a loop where a word stays.
std::string svg(const Input& input) {
  const auto x = [](std::size_t place) { return 60 + 120 * static_cast<int>(place); };
  std::string text = formatted(
      "<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 %d 140'>\n"
      "<g fill='none' stroke='black'>\n",
      x(input.size()) - 60);
  for (const Edge& e : network(input)) {
    const int from = x(e.from), to = x(e.to), top = 60 - (from - to) / 4;
    text +=
        formatted("<path d='M%d 110C%d %d %d %d %d 110'", from, from + 25, top, to - 25, top, to);
    text += formatted(" stroke-width='%.2f'/>\n", widest * e.weight);
  }
  text += "</g>\n";
  for (std::size_t i = 0; i < input.size(); ++i)
    text += formatted("<text x='%d' y='130' text-anchor='middle'>", x(i)) +
            escaped(name(input[i])) + "</text>\n";
  return text + "</svg>\n";
}

int count(std::string_view text, std::string_view part) {
  int found = 0;
  for (std::size_t at = text.find(part); at != std::string_view::npos; at = text.find(part, at + 1))
    ++found;
  return found;
}

/// Every input of at most `longest` words, the empty one first.
std::vector<Input> inputs(std::size_t longest) {
  std::vector<Input> found{{}};
  for (std::size_t i = 0; found[i].size() < longest; ++i)
    for (const Dim player : {rock, paper, scissors}) {
      Input longer = found[i];
      longer.push_back(player);
      found.push_back(longer);
    }
  return found;
}

void a_few_drawn(Lesson& to) {
  to.part("Four inputs, four networks");
  to.say(
      "Each player looks for the one it beats: rock for scissors, paper for rock, scissors for "
      "paper. A line is a word of the input, an arrow leads to a word that it looks at. The arrow "
      "is drawn with . - = or #, the larger its weight the thicker. W_Q and W_K are the same for all "
      "four inputs.");
  for (const Input& input :
       {Input{rock}, {scissors, rock}, {paper, paper, rock}, {scissors, rock, paper, rock}})
    to.show(drawn(input));
  to.say();
  const double met = network({paper, scissors, rock}).at(4).weight;  // rock at the second word
  const double missed = network({paper, paper, rock}).at(4).weight;
  to.say(
      "The note says that A is custom-generated to suit the length of the input. This is right, and "
      "not all: the length gives the number of edges, the words give their weights.\n");
  to.claim(met > 0.9 && std::abs(missed - 1.0 / 3) < 1e-15,
           formatted("rock, the third word, gives the second %.2f if it is scissors, %.2f if paper",
                     met, missed));
}

void every_input(Lesson& to) {
  bool counted = true, whole = true, kept = true;
  const std::vector<Input> all = inputs(6);
  for (const Input& input : all) {
    const std::vector<Edge> edges = network(input);
    const std::size_t n = input.size();
    counted = counted && edges.size() == n * (n + 1) / 2;
    std::vector<double> widths(n);
    for (const Edge& e : edges) widths[e.from] += widest * e.weight;
    for (const double width : widths) whole = whole && std::abs(width - widest) < 1e-13;
    const std::vector<Edge> before = network(Input(input.begin(), input.end() - (n > 0 ? 1 : 0)));
    kept = kept && std::equal(before.begin(), before.end(), edges.begin());
  }
  to.part(formatted("What holds for each of the %zu inputs of one to six words", all.size() - 1));
  to.claim(counted, "n words make n (n + 1) / 2 edges, so one word more adds n + 1");
  to.claim(whole, "the edges that leave a node are together as thick as one of weight 1");
  to.claim(kept, "one word more leaves every earlier edge as it is, to the bit");
}

void as_svg(Lesson& to) {
  to.part("Paper scissors rock as SVG, to be pasted into a file");
  const std::string picture = svg({paper, scissors, rock});
  to.show(picture);
  to.claim(count(picture, "<path ") == 6 && count(picture, "<text ") == 3,
           "six edges, three nodes");
  to.claim(escaped("<rock & \"roll\">") == "&#60;rock &#38; &#34;roll&#34;&#62;",
           "a word may hold what XML reserves");
}

void ephemeral_network(Lesson& to) {
  a_few_drawn(to);
  every_input(to);
  as_svg(to);
}

}  // namespace

}  // namespace fledge

int main(int argc, char** argv) {
  return support::run_lesson(argc, argv, "08_ephemeral_network", "Attention drawn as a network.",
                             fledge::ephemeral_network);
}
