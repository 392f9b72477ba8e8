// Lesson 2: the same expression in fledge, and two pictures of its graph.
//
// Lesson 1 kept a tape. fledge keeps a graph: each result holds on to its inputs, with one rule for
// each, and to nothing else. For a picture with values and gradients, this lesson therefore keeps
// the tensors and calls keep_grad() on them. The numbers must be those of lesson 1; the pictures
// are indented text and Graphviz' language, which `dot -Tsvg` draws.
// Key idea: a node is made after its inputs and has a larger id: the ids are the order of the tape.
// Next: engine/tensor.h, engine/autograd.h, engine/autograd.cpp.
#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "engine/autograd.h"
#include "engine/base/errors.h"
#include "engine/ops.h"
#include "examples/lessons/lesson.h"

namespace fledge {
namespace {

using support::formatted, support::Lesson, support::pad_right;

struct Seen {
  std::string name;
  Tensor x;
  double gradient() const { return value_of(x.grad().item()); }
};

using Album = std::map<std::uint64_t, Seen>;  // by the ids of nodes: oldest first, as on a tape

// y = (e1·v1 + e2·v2) / (e1 + e2), e = exp(q·k)
Tensor attend(Album& album) {
  const auto see = [&](const char* name, const Tensor& x) {
    album[x.node()->id] = {name, x.keep_grad()};
    return x;
  };
  const auto number = [&](const char* name, double x) {
    return see(name, parameter(Array::full({}, x)));
  };
  const Tensor q = number("q", 2), k1 = number("k1", 0.5), v1 = number("v1", 0.1);
  const Tensor k2 = number("k2", -0.25), v2 = number("v2", 0.5);
  const Tensor s1 = see("s1", q * k1), s2 = see("s2", q * k2);
  const Tensor e1 = see("e1", exp(s1)), e2 = see("e2", exp(s2)), z = see("z", e1 + e2);
  const Tensor m1 = see("m1", e1 * v1), m2 = see("m2", e2 * v2), m = see("m", m1 + m2);
  return see("the new \"walk\"", m / z);
}

// What lesson 1's tape computes, written out: value and gradient of each step, oldest first.
std::vector<std::pair<double, double>> written_out() {
  const double q = 2, k1 = 0.5, v1 = 0.1, k2 = -0.25, v2 = 0.5;
  const double s1 = q * k1, s2 = q * k2, e1 = std::exp(s1), e2 = std::exp(s2), z = e1 + e2;
  const double m1 = e1 * v1, m2 = e2 * v2, m = m1 + m2, y = m / z;
  const double dm = 1 / z, dz = -y / z, de1 = dm * v1 + dz, de2 = dm * v2 + dz;
  const double ds1 = de1 * e1, ds2 = de2 * e2, dq = ds1 * k1 + ds2 * k2;
  return {{q, dq},   {k1, ds1 * q}, {v1, dm * e1}, {k2, ds2 * q}, {v2, dm * e2},
          {s1, ds1}, {s2, ds2},     {e1, de1},     {e2, de2},     {z, dz},
          {m1, dm},  {m2, dm},      {m, dm},       {y, 1}};
}

// The graph under y, the inputs of a node indented below it. A list of what is yet to be printed
// stands in for recursion: graphs may be deeper than stacks.
std::string indented(const Tensor& y, const Album& album) {
  std::string text;
  std::set<const Node*> printed;
  std::vector<std::pair<const Node*, std::string>> waiting{{y.node().get(), "   "}};
  while (!waiting.empty()) {
    const auto [node, indent] = waiting.back();
    waiting.pop_back();
    const Seen& seen = album.at(node->id);
    const bool again = !printed.insert(node).second;
    text += pad_right(indent + seen.name + (again ? " (above)" : ""), 25);
    text += pad_right(node->op, 10) + formatted("%9.6f  %9.6f\n", seen.x.item(), seen.gradient());
    if (again) continue;
    for (auto edge = node->edges.rbegin(); edge != node->edges.rend(); ++edge)
      waiting.emplace_back(edge->input.get(), indent + "  ");
  }
  return text;
}

// Between quotes, in Graphviz' language.
std::string escaped(const std::string& text) {
  std::string result;
  for (const char c : text) result += c == '"' || c == '\\' ? std::string{'\\', c} : std::string{c};
  return result;
}

std::string graphviz(const Album& album) {
  std::string text = "digraph attention { rankdir=BT;\n";
  for (const auto& [id, seen] : album) {
    const std::string name = "  n" + std::to_string(id), label = escaped(seen.name);
    text += name + (seen.x.is_parameter() ? " [shape=box" : " [shape=oval") + ", label=\"" + label;
    text.append(": ").append(seen.x.node()->op);
    text += formatted("\\n%.4g\\ngradient %.4g\"];\n", seen.x.item(), seen.gradient());
    for (const Edge& edge : seen.x.node()->edges)
      text += "  n" + std::to_string(edge.input->id) + " -> " + name.substr(2) + ";\n";
  }
  return text + "}\n";
}

// Reads that back: the numbers of nodes and edges; none when a label does not end where its line
// does, or an edge joins what was not declared above it.
std::pair<std::size_t, int> read(const std::string& text) {
  std::set<std::string> nodes;
  int edges = 0;
  std::istringstream lines(text.substr(text.find('\n') + 1));
  for (std::string line; std::getline(lines, line) && line != "}";) {
    std::istringstream words(line);
    std::string from, what, to;
    words >> from >> what >> to;
    if (what == "->") {
      ++edges;
      if (nodes.count(from) + nodes.count(to.substr(0, to.find(';'))) != 2) return {};
    } else {
      nodes.insert(from);
      std::size_t at = line.find('"') + 1;
      while (at < line.size() && line[at] != '"') at += line[at] == '\\' ? 2 : 1;
      if (at >= line.size() || line.substr(at) != "\"];") return {};
    }
  }
  return {nodes.size(), edges};
}

void lesson(Lesson& to) {
  Album album;
  const Tensor y = attend(album);
  backward(y, Graph::keep);  // the pictures show the edges

  to.part("The graph, from the result down");
  to.show("   name                  op            value   gradient\n" + indented(y, album));
  const auto expected = written_out();
  double gap = 0;
  std::size_t i = 0;
  bool ordered = true, leaves_only = true;
  for (const auto& [id, seen] : album) {
    const auto [value, gradient] = expected.at(i++);
    gap = std::max({gap, std::abs(seen.x.item() - value), std::abs(seen.gradient() - gradient)});
    for (const Edge& edge : seen.x.node()->edges) ordered = ordered && edge.input->id < id;
    leaves_only = leaves_only && seen.x.node()->value.exists() == seen.x.is_parameter();
  }
  to.claim_near(gap, 0, 1e-15, "fourteen values and gradients, largest difference from lesson 1");
  to.claim(ordered, "every node has a larger id than its inputs, so newest first is right");
  to.claim(leaves_only, "only nodes of parameters hold a value; the caller keeps the results");

  to.part("The same for Graphviz: dot -Tsvg draws it");
  std::string drawing = graphviz(album);
  to.show(drawing);
  to.claim(read(drawing) == std::pair<std::size_t, int>(14, 16), "reads back: 14 nodes, 16 edges");
  drawing.erase(drawing.find("\\\"walk"), 1);
  to.claim(read(drawing).first == 0, "without the backslash before a quote it does not");

  to.part("Backward once more");
  const Seen& q = album.begin()->second;
  const double once = q.gradient();
  backward(y);
  to.claim(q.gradient() == 2 * once, "gradients add: dq is now exactly twice what it was");
  to.claim(y.node()->edges.empty(), "without Graph::keep a pass frees each rule as it uses it");
}

}  // namespace
}  // namespace fledge

int main(int argc, char** argv) {
  const auto purpose = "Lesson 1's expression as a graph, drawn.";
  return support::run_lesson(argc, argv, "02_same_in_fledge", purpose, fledge::lesson);
}
