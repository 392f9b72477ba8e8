#include "engine/gradcheck/nan_detector.h"

#include "engine/base/errors.h"

namespace fledge {

NanDetector::NanDetector() {
  require<GraphError>(detail::nan_detector == nullptr, "NanDetector",
                      "this thread has a detector already");
  detail::nan_detector = this;
}

NanDetector::~NanDetector() { detail::nan_detector = nullptr; }

void NanDetector::inspect(std::string_view op, const Array& x, bool backward,
                          const std::vector<const Node*>& inputs) {
  if (finding_) return;
  for (Dim i = 0; i < x.size(); ++i)
    if (!isfinite(x.data()[i])) {
      finding_ = {op, backward, x.shape(), i, value_of(x.data()[i]), inputs};
      return;
    }
}

void detail::inspect_node(const Node& node, const Array& value) {
  std::vector<const Node*> inputs;
  for (const Edge& edge : node.edges) inputs.push_back(edge.input.get());
  nan_detector->inspect(node.op, value, false, inputs);
}

}  // namespace fledge
