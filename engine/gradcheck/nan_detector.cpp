#include "engine/gradcheck/nan_detector.h"

#include "engine/base/errors.h"

namespace fledge {

NanDetector::NanDetector() {
  require<GraphError>(graph_observer == nullptr, "NanDetector",
                      "this thread has a detector already");
  graph_observer = this;
}

NanDetector::~NanDetector() { graph_observer = nullptr; }

void NanDetector::on_value(const Node& node, const Array& value) {
  std::vector<const Node*> inputs;
  for (const Edge& edge : node.edges) inputs.push_back(edge.input.get());
  inspect(node.op, value, false, inputs);
}

void NanDetector::on_gradient(const Node& node, const Node& input) {
  inspect(node.op, input.pending_grad, true, {&input});
}

void NanDetector::inspect(std::string_view op, const Array& x, bool backward,
                          const std::vector<const Node*>& inputs) {
  if (finding_) return;
  for (Dim i = 0; i < x.size(); ++i)
    if (!isfinite(x.data()[i])) {
      finding_ = {op, backward, x.shape(), i, value_of(x.data()[i]), inputs};
      return;
    }
}

}  // namespace fledge
