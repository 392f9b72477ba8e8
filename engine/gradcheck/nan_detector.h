// Which op computed the first number that is not finite, for a training run that diverges.
//
// A detector costs time, so training runs without one. If the loss of a step is not finite, the step
// is computed again, from the same weights, with a detector.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "engine/autograd.h"

namespace fledge {

/// While it lives, it inspects every value that this thread records and every gradient that a rule
/// returns, and keeps the first infinity or NaN. attention_scores() puts −∞ in hidden positions, which
/// is a finding too; models train with attention(), which does not. At most one detector per thread.
class NanDetector : public GraphObserver {
 public:
  struct Finding {
    std::string_view op;  // that computed the value, or that has the rule
    bool backward;        // true: the number is in a gradient
    Shape shape;          // of the value or the gradient
    Dim element;          // index in row order
    double value;
    std::vector<const Node*> inputs;  // of the op; for a gradient, the input it belongs to
  };

  NanDetector();
  ~NanDetector() override;
  NanDetector(const NanDetector&) = delete;
  NanDetector& operator=(const NanDetector&) = delete;

  const std::optional<Finding>& finding() const { return finding_; }

 private:
  void inspect(const Node& node, const Array& numbers, const Node* input) override;

  std::optional<Finding> finding_;
};

}  // namespace fledge
