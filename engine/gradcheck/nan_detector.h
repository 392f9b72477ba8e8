// Which op made the first number that is not finite: for runs that diverge.
//
// Not here: what to do about it. Key idea: a detector costs time, so training runs without one. A
// step that went wrong is taken once more, from the same numbers, with a detector.              Next: nan_detector.cpp.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "engine/autograd.h"

namespace fledge {

/// While it lives, it inspects every value that this thread records and every gradient that a rule
/// returns, and keeps the first infinity or NaN. At most one per thread.
class NanDetector {
 public:
  struct Finding {
    std::string_view op;  // that computed the value, or that has the rule
    bool backward;        // a gradient
    Shape shape;          // of the value or the gradient
    Dim element;          // its place, row by row
    double value;
    std::vector<const Node*> inputs;  // of the op; for a gradient, the input it belongs to
  };

  NanDetector();
  ~NanDetector();
  NanDetector(const NanDetector&) = delete;
  NanDetector& operator=(const NanDetector&) = delete;

  const std::optional<Finding>& finding() const { return finding_; }

  void inspect(std::string_view op, const Array& x, bool backward,
               const std::vector<const Node*>& inputs);

 private:
  std::optional<Finding> finding_;
};

}  // namespace fledge
