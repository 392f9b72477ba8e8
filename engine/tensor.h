// Tensor: a value, and the node of the graph that computed it.
// A Tensor is a handle; copies refer to the same tensor. The graph keeps only the values that rules
// captured, so any other intermediate result is freed with its last handle. Next: autograd.h.
#pragma once

#include <concepts>
#include <iosfwd>
#include <string>
#include <string_view>
#include <utility>

#include "engine/array.h"
#include "engine/node.h"

namespace fledge {

class Tensor {
 public:
  /// No tensor at all; `exists()` is false.
  Tensor() = default;
  /// A constant: it takes part in computations and receives no gradient.
  Tensor(Array value) : value_(std::move(value)) {}
  /// A constant of shape ().
  Tensor(double value) : value_(Array::full({}, Real(value))) {}
  /// Indices are refused in one sentence, whatever op they are given to.
  template <std::same_as<Indices> I>
  Tensor(const I&) {
    static_assert(!std::same_as<I, Indices>,
                  "Indices are whole numbers without a gradient, and no Tensor: give them to "
                  "embedding(), cross_entropy() or gather(), or make an Array of numbers");
  }
  /// What record() returns: a value and its node.
  Tensor(Array value, Handle<Node> node) : value_(std::move(value)), node_(std::move(node)) {}

  bool exists() const { return node_ != nullptr || value_.exists(); }
  const Array& value() const { return value_.exists() ? value_ : parameter_value(); }
  const Shape& shape() const { return value().shape(); }
  int rank() const { return shape().rank(); }
  Dim size() const { return shape().size(); }
  /// Size of an axis; negative axes count from the end.
  Dim dim(int axis) const { return shape().dim(axis); }
  /// The only number as a double. Throws ShapeError when there is not exactly one.
  double item() const { return value_of(value().item()); }

  /// Whether backward() computes a gradient of this tensor.
  bool needs_grad() const { return node_ != nullptr; }
  /// Whether parameter() made it: a leaf, whose numbers an optimiser may change.
  bool is_parameter() const;
  bool has_grad() const;
  /// ∂loss/∂this, summed over the backward passes since zero_grad().
  /// Throws GraphError when no backward pass has computed it.
  const Array& grad() const;
  /// Deletes the gradient.
  void zero_grad() const;
  /// Keeps the gradient of an intermediate result; leaves always keep theirs.
  const Tensor& keep_grad() const;
  /// Replaces the gradient, of the same shape.
  void set_grad(Array grad) const;

  /// The numbers of a parameter, for an optimiser, to be changed before another op uses them.
  /// Throws GraphError when this is no parameter, or when a graph still needs the old numbers for
  /// its backward pass.
  Real* write() const;

  /// A constant with the same numbers.
  Tensor detach() const { return Tensor(value()); }

  const Handle<Node>& node() const { return node_; }

 private:
  const Array& parameter_value() const;
  void require_grad(std::string_view use) const;

  Array value_;        // empty for parameters: theirs is in the node, shared by all handles
  Handle<Node> node_;  // null for constants
};

/// A tensor that can be trained: a leaf of the graph, which receives gradients.
Tensor parameter(Array value);

struct NamedTensor {
  std::string name;
  Tensor tensor;
};

std::string to_string(const Tensor& tensor);
/// As an array: see array.h.
std::ostream& operator<<(std::ostream& out, const Tensor& tensor);

}  // namespace fledge
