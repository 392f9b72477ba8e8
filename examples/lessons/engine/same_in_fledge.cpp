// The same formula in fledge: a graph instead of a tape. This lesson keeps its tensors and calls
// keep_grad(), to compare every gradient. A node is made after its inputs and has a larger id: the
// ids are the order of the tape.
#include <map>
#include <set>

#include "examples/lessons/vocabulary.h"

namespace fledge::lessons::in_same_in_fledge {

/// A tensor of the formula.
struct Kept {
  std::string name;
  Tensor x;
  double gradient() const { return value_of(x.grad().item()); }
};

using KeptTensors = std::map<std::uint64_t, Kept>;  // by the ids of nodes: oldest first

// y = (e1·v1 + e2·v2) / (e1 + e2), e = exp(q·k)
Tensor attend(KeptTensors& kept) {
  const auto keep = [&](const char* name, const Tensor& x) {
    kept[x.node()->id] = {name, x.keep_grad()};
    return x;
  };
  const auto number = [&](const char* name, double x) {
    return keep(name, parameter(Array::full({}, x)));
  };
  const Tensor q = number("q", 2), k1 = number("k1", 0.5), v1 = number("v1", 0.1);
  const Tensor k2 = number("k2", -0.25), v2 = number("v2", 0.5);
  const Tensor s1 = keep("s1", q * k1), s2 = keep("s2", q * k2);
  const Tensor e1 = keep("e1", exp(s1)), e2 = keep("e2", exp(s2));
  const Tensor z = keep("z", e1 + e2);
  const Tensor m1 = keep("m1", e1 * v1), m2 = keep("m2", e2 * v2);
  const Tensor m = keep("m", m1 + m2);
  return keep("y", m / z);
}

// What the tape of the lesson before computes, written out: value and gradient, oldest first.
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

// The graph below y, the inputs of a node indented below it. A list of the nodes that wait to be
// printed is used instead of recursion: graphs may be deeper than stacks.
std::string indented(const Tensor& y, const KeptTensors& kept) {
  std::string text;
  std::set<const Node*> printed;
  std::vector<std::pair<const Node*, std::string>> waiting{{y.node().get(), "   "}};
  while (!waiting.empty()) {
    const auto [node, indent] = waiting.back();
    waiting.pop_back();
    const Kept& shown = kept.at(node->id);
    const bool again = !printed.insert(node).second;
    text += pad_right(indent + shown.name + (again ? " (above)" : ""), 25);
    text += pad_right(node->op, 10) + formatted("%3d\n", int(node->id - kept.begin()->first) + 1);
    if (again) continue;
    for (auto edge = node->edges.rbegin(); edge != node->edges.rend(); ++edge)
      waiting.emplace_back(edge->input.get(), indent + "  ");
  }
  return text;
}

void show_graph(LessonText& to) {
  KeptTensors kept;
  const Tensor y = attend(kept);
  backward(y, Graph::keep);  // the table shows the edges
  to.set("graph", "   name                  op         id\n" + indented(y, kept));
  const auto expected = written_out();
  double gap = 0;
  std::size_t i = 0;
  bool ordered = true, leaves_only = true;
  for (const auto& [id, shown] : kept) {
    const auto [value, gradient] = expected.at(i++);
    gap = std::max({gap, std::abs(shown.x.item() - value), std::abs(shown.gradient() - gradient)});
    for (const Edge& edge : shown.x.node()->edges) ordered = ordered && edge.input->id < id;
    leaves_only = leaves_only && shown.x.node()->value.exists() == shown.x.is_parameter();
  }
  to.claim("tape", gap <= 1e-15);
  to.claim("ids", ordered);
  to.claim("arrays", leaves_only);
}

void show_second_pass(LessonText& to) {
  KeptTensors kept;
  const Tensor y = attend(kept);
  backward(y, Graph::keep);
  const Kept& q = kept.begin()->second;
  const double once = q.gradient();
  backward(y);
  to.set_all("once", once, "twice", q.gradient());
  to.claim("doubles", q.gradient() == 2 * once);
  to.claim("gone", y.node()->edges.empty());
}

const LessonProgram program({show_graph, show_second_pass});

}  // namespace fledge::lessons::in_same_in_fledge
