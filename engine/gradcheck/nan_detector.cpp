#include "engine/gradcheck/nan_detector.h"

#include <algorithm>

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
  const auto is_minus_infinity = [](Real x) { return x == Real(-infinity); };
  const auto has_minus_infinity = [&](const Edge& edge) {
    const Array& x = edge.input->value;  // of a parameter
    return with_minus_infinity_.contains(edge.input->id) ||
           (x.exists() && std::any_of(x.data(), x.data() + x.size(), is_minus_infinity));
  };
  // Scans the inputs, so it is asked only of a node that holds a −∞.
  const auto may_be_minus_infinity = [&] {
    return input == nullptr &&
           (node.op == "attention_scores" ||
            std::any_of(node.edges.begin(), node.edges.end(), has_minus_infinity));
  };
  bool allowed = false;
  Dim i = 0;
  for (; i < numbers.size(); ++i) {
    if (isfinite(numbers[i])) continue;
    if (!is_minus_infinity(numbers[i])) break;
    if (!allowed && !may_be_minus_infinity()) break;
    allowed = true;
    with_minus_infinity_.insert(node.id);
  }
  if (i == numbers.size()) return;
  finding_ = {node.op, input != nullptr, numbers.shape(), i, value_of(numbers[i]), {}};
  if (input != nullptr) {
    finding_->inputs.push_back(input);
  } else {
    for (const Edge& edge : node.edges) finding_->inputs.push_back(edge.input.get());
  }
}

}  // namespace fledge
