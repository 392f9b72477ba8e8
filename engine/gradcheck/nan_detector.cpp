#include "engine/gradcheck/nan_detector.h"

namespace fledge {

NanDetector::NanDetector() {
  require<GraphError>(graph_observer == nullptr, "NanDetector",
                      "this thread has a detector already");
  graph_observer = this;
}

NanDetector::~NanDetector() { graph_observer = nullptr; }

void NanDetector::inspect(const Node& node, const Array& numbers, const Node* input) {
  if (finding_) return;
  const Real* const end = numbers.data() + numbers.size();
  const Real* const bad = std::find_if(numbers.data(), end, [](Real x) { return !isfinite(x); });
  if (bad == end) return;
  finding_ = {node.op, input != nullptr, numbers.shape(), bad - numbers.data(), value_of(*bad), {}};
  if (input != nullptr) {
    finding_->inputs.push_back(input);
  } else {
    for (const Edge& edge : node.edges) finding_->inputs.push_back(edge.input.get());
  }
}

}  // namespace fledge
