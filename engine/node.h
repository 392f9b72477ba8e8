// Node: one step of a recorded computation, with edges to its inputs and a rule on each edge.
// A node that is no leaf knows no value, only its shape: what the backward pass needs is captured
// by the rules. Next: tensor.h.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>

#include "engine/array.h"

namespace fledge {

struct Node;

/// Calls a rule with dy and adds the result to the pending gradient of one input.
struct Vjp : Pooled {
  virtual ~Vjp() = default;
  virtual void operator()(Node& input, const Array& dy) const = 0;
};

/// "y depends on `input`, and this rule computes the gradient of `input` from dy."
struct Edge {
  Handle<Node> input;  // null, before record(): this gradient is not needed
  std::unique_ptr<Vjp> vjp;
};

/// One step of a computation. Ids increase, so an input's id is smaller than that of its node.
struct Node : Pooled {
  Node(std::string_view op_name, const Shape& value_shape);
  /// Deletes the node, and the inputs that have no other handle, in a loop.
  static void destroy(Node* node) noexcept;

  /// Adds a contribution to the pending gradient; undoes broadcasts.
  void accumulate_grad(Array dx);
  /// The pending gradient, to be added into: zeros if there is no contribution yet.
  Array& pending_grad_buffer();

  HandleCount handles;
  std::uint64_t id;
  std::string_view op;  // must be a string literal; not copied
  Shape shape;
  PoolVector<Edge> edges;
  Array pending_grad;  // ∂L/∂this, still being summed: set only while backward() runs
  Array grad;          // ∂L/∂this, finished and kept: of leaves, and after keep_grad()
  Array value;         // of a leaf only
  bool leaf = false;
  bool keeps_grad = false;  // after keep_grad(); a leaf always does
  bool released = false;    // backward() has visited this node and freed its rules
};

}  // namespace fledge
