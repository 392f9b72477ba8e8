// Which op made the first number that is not finite: for runs that diverge.
//
// Not here: what to do about it. Key idea: nobody looks while all goes well; a step that went wrong
// is taken once more, from the same numbers, under watch.              Next: first_nonfinite.cpp.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "engine/array.h"

namespace fledge::inline FLEDGE_BUILD {

struct Node;

/// While it lives, every value that this thread records, and every gradient that a rule gives, is
/// looked through; the first infinity or NaN is kept. One at a time per thread.
class FirstNonFinite {
 public:
  struct Finding {
    std::string_view op;  // whose value it is, or whose rule gave the gradient
    bool backward;        // a gradient
    Shape shape;          // of the value or the gradient
    Dim element;          // its place, row by row
    double value;
    std::vector<const Node*> inputs;  // of the op; for a gradient, the input it belongs to
  };

  FirstNonFinite();
  ~FirstNonFinite();
  FirstNonFinite(const FirstNonFinite&) = delete;
  FirstNonFinite& operator=(const FirstNonFinite&) = delete;

  const std::optional<Finding>& finding() const { return finding_; }

  void look(std::string_view op, const Array& x, bool backward,
            const std::vector<const Node*>& inputs);

 private:
  std::optional<Finding> finding_;
};

namespace detail {

/// The watch of this thread; null, at the cost of one load a node, nearly always.
inline constinit thread_local FirstNonFinite* watch = nullptr;

void watch_node(const Node& node, const Array& value);

}  // namespace detail

}  // namespace fledge::inline FLEDGE_BUILD
