#include "engine/tensor.h"

#include <ostream>

#include "engine/autograd.h"

namespace fledge {

const Array& Tensor::parameter_value() const {
  require<GraphError>(exists(), "value", "this tensor was never given a value");
  return node_->value;
}

bool Tensor::is_parameter() const { return node_ != nullptr && node_->leaf; }

bool Tensor::has_grad() const { return node_ != nullptr && node_->grad.exists(); }

void Tensor::require_grad(std::string_view use) const {
  require<GraphError>(needs_grad(), use, "a constant has no gradient; make it a parameter()");
}

const Array& Tensor::grad() const {
  require_grad("grad");
  require<GraphError>(node_->grad.exists(), "grad",
                      "no backward pass has reached this tensor of shape ", shape(),
                      node_->leaf ? "" : "; call keep_grad() on intermediate results first");
  return node_->grad;
}

void Tensor::zero_grad() const {
  if (node_ != nullptr) node_->grad = Array();
}

const Tensor& Tensor::keep_grad() const {
  require_grad("keep_grad");
  node_->keeps_grad = true;
  return *this;
}

void Tensor::set_grad(Array grad) const {
  require_grad("set_grad");
  require<ValueError>(grad.exists(), "set_grad", "needs an array: got none");
  require(grad.shape() == shape(), "set_grad", "gradient of shape ", grad.shape(),
          " for a tensor of shape ", shape());
  node_->grad = std::move(grad);
}

Real* Tensor::write() const {
  require<GraphError>(is_parameter(), "write",
                      "only a parameter() may be written; values of other tensors do not change");
  return node_->value.write();
}

Tensor parameter(Array value) {
  require<ValueError>(value.exists(), "parameter", "needs an array: got none");
  Handle<Node> node(new Node("parameter", value.shape()));
  node->leaf = true;
  node->value = std::move(value);
  return {Array(), std::move(node)};
}

std::string to_string(const Tensor& tensor) { return to_string(tensor.value()); }

std::ostream& operator<<(std::ostream& out, const Tensor& tensor) {
  return out << (tensor.exists() ? tensor.value() : Array());
}

}  // namespace fledge
