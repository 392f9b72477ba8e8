#include "engine/gradcheck/nan_detector.h"

#include "engine/base/errors.h"

namespace fledge {

NanDetector::NanDetector() {
  require<GraphError>(graph_observer == nullptr, "NanDetector",
                      "this thread has a detector already");
  graph_observer = this;
}

NanDetector::~NanDetector() { graph_observer = nullptr; }

void NanDetector::inspect(const Node& node, const Array& numbers, const Node* input) {
  if (finding_) return;
  Dim i = 0;
  while (i < numbers.size() && isfinite(numbers[i])) ++i;
  if (i == numbers.size()) return;
  finding_ = {node.op, input != nullptr, numbers.shape(), i, value_of(numbers[i]), {}};
  if (input != nullptr) {
    finding_->inputs.push_back(input);
  } else {
    for (const Edge& edge : node.edges) finding_->inputs.push_back(edge.input.get());
  }
}

}  // namespace fledge
