// Reverse-mode automatic differentiation: gradient rules, recording, backward().
//
// Notation, everywhere: dx is the gradient of the loss, ∂L/∂x. For y = f(…, x, …) an op supplies
// rules that compute dx from dy:
//
//     dx = Jᵀ·dy,   J_ij = ∂y_i/∂x_j                                    (a vector-Jacobian product)
//
// Usually an op has one rule per argument; wrt() also takes one rule for several arguments. A rule
// returns dx; a rule of wrt_adding() adds into dx. The arrays that its lambda captures are all that
// is saved for the backward pass. The engine adds contributions, undoes broadcasts and skips
// arguments that need no gradient. Read next: engine/autograd.cpp, then engine/ops/softmax.cpp.
#pragma once

#include <array>
#include <concepts>
#include <cstddef>
#include <memory>
#include <string_view>
#include <utility>

#include "engine/array.h"
#include "engine/tensor.h"

namespace fledge {

/// Whether ops record nodes. Per thread.
bool recording();

/// While it lives, nothing is recorded on this thread. Nests; an exception restores the mode.
class NoGrad {
 public:
  NoGrad();
  ~NoGrad();
  NoGrad(const NoGrad&) = delete;
  NoGrad& operator=(const NoGrad&) = delete;

 private:
  bool before_;
};

/// Inspects the numbers of a graph while they are computed: engine/gradcheck/nan_detector.h is one.
struct GraphObserver {
  virtual ~GraphObserver() = default;
  /// `numbers` is the value of `node`, which record() has made. If `input` is not null, `numbers`
  /// is the pending gradient of `input`, to which a rule of `node` has added.
  virtual void inspect(const Node& node, const Array& numbers, const Node* input) = 0;
};

/// The observer of this thread. If it is null, the cost is one pointer test per recorded node and
/// per visited edge.
inline constinit thread_local GraphObserver* graph_observer = nullptr;

namespace detail {

template <class F>
struct VjpOf : Vjp {
  explicit VjpOf(F function) : f(std::move(function)) {}
  void operator()(Node& input, const Array& dy) const override { f(input, dy); }
  F f;
};

template <class F>
Edge edge(const Tensor& x, F f) {
  return {x.node(), std::make_unique<VjpOf<F>>(std::move(f))};
}

}  // namespace detail

template <class F>
concept Rule = requires(F rule, const Array& dy) {
  { rule(dy) } -> std::convertible_to<Array>;
};
template <class F>
concept AddingRule = requires(F rule, const Array& dy, Real* dx) {
  rule(dy, dx);
};
template <class F, std::size_t n>
concept JointRule = requires(F rule, const Array& dy, std::array<bool, n> wanted) {
  { rule(dy, wanted) } -> std::convertible_to<std::array<Array, n>>;
};

/// "with respect to x": rule(dy) returns dx, of x's shape or of the shape x was broadcast to.
/// If x needs no gradient, the rule and the arrays that it captured are freed at once.
template <Rule F>
Edge wrt(const Tensor& x, F rule) {
  if (!x.needs_grad() || !recording()) return {};
  return detail::edge(x, [rule = std::move(rule)](Node& input, const Array& dy) {
    input.accumulate_grad(rule(dy));
  });
}

/// What is no rule is refused in one sentence.
template <class F>
requires(!Rule<F>) Edge wrt(const Tensor&, F) {
  static_assert(Rule<F>,
                "wrt(x, rule): a rule takes const Array& dy and returns an Array, dx; it computes "
                "with Arrays, not with Tensors");
  return {};
}

/// The same for rules that touch few elements of dx: rule(dy, dx) adds into dx, which starts at
/// zero or at the sum that other nodes have contributed. So several row lookups in one table share
/// one gradient buffer.
template <AddingRule F>
Edge wrt_adding(const Tensor& x, F rule) {
  if (!x.needs_grad() || !recording()) return {};
  return detail::edge(x, [rule = std::move(rule)](Node& input, const Array& dy) {
    rule(dy, input.pending_grad_buffer().write());
  });
}

/// One rule for several arguments that share work: rule(dy, wanted) returns an array for each of
/// them, in order. Where wanted[i] is false, array i is not used and may be empty.
///     wrt({a, b}, [](const Array& dy, std::array<bool, 2> wanted) {
///       return std::array<Array, 2>{…, …};
///     })
template <std::size_t n, JointRule<n> F>
std::array<Edge, n> wrt(const Tensor (&inputs)[n], F rule) {
  std::array<bool, n> wanted{};
  for (std::size_t i = 0; i < n; ++i) wanted[i] = inputs[i].needs_grad() && recording();
  std::array<Edge, n> edges;
  std::size_t first = 0;
  while (first < n && !wanted[first]) ++first;
  if (first == n) return edges;
  struct Shared : Pooled {
    explicit Shared(F f) : rule(std::move(f)) {}
    static void destroy(Shared* shared) noexcept { delete shared; }
    HandleCount handles;
    F rule;
    std::array<Array, n> gradients;  // computed for the first argument, kept for the others
  };
  const Handle<Shared> shared(new Shared(std::move(rule)));
  for (std::size_t i = first; i < n; ++i)
    if (wanted[i])
      edges[i] = detail::edge(inputs[i], [shared, wanted, first, i](Node& input, const Array& dy) {
        if (i == first) shared->gradients = shared->rule(dy, wanted);
        input.accumulate_grad(std::exchange(shared->gradients[i], Array()));
      });
  return edges;
}

/// Makes a tensor. If any edge has an input, the tensor gets a node with the edges that have one;
/// else it is a constant. `op` must be a string literal: the node's name in messages and drawings.
Tensor record(std::string_view op, Array value, PoolVector<Edge> edges);

namespace detail {

inline void append(PoolVector<Edge>& edges, Edge edge) {
  if (edge.input != nullptr) edges.push_back(std::move(edge));
}
template <std::size_t n>
void append(PoolVector<Edge>& edges, std::array<Edge, n> group) {
  for (Edge& edge : group) append(edges, std::move(edge));
}

}  // namespace detail

/// Overload: each argument is an Edge or an std::array of edges, as wrt() returns.
template <class... Edges>
requires requires(PoolVector<Edge>& list, Edges... edges) {
  (detail::append(list, std::move(edges)), ...);
}
Tensor record(std::string_view op, Array value, Edges... edges) {
  PoolVector<Edge> list;
  if (recording()) list.reserve((0 + ... + sizeof(Edges)) / sizeof(Edge));
  (detail::append(list, std::move(edges)), ...);
  return record(op, std::move(value), std::move(list));
}

/// Whether a backward pass keeps the rules of the graph.
enum class Graph {
  free,  // frees each node's rules and captured arrays after their use: backward() works once
  keep,  // keeps them for another backward() over the same graph
};

/// Adds ∂y/∂p to the gradient of every parameter p that y depends on, and of every tensor marked by
/// keep_grad(); y must be a single number. Throws ShapeError for another shape, GraphError for a
/// constant or a graph already freed, Interrupted if the work is interrupted. When a rule throws,
/// no gradient has changed, and with Graph::free the graph counts as freed. Graphs that share
/// parameters must not be differentiated by two threads at once.
void backward(const Tensor& y, Graph graph = Graph::free);

/// The same for y of any shape: adds Jᵀ·dy, the gradient of ⟨dy, y⟩. dy has the shape of y.
void backward(const Tensor& y, const Array& dy, Graph graph = Graph::free);

}  // namespace fledge
