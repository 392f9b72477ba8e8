#include "engine/first_nonfinite.h"

#include "engine/autograd.h"
#include "engine/errors.h"

namespace fledge::inline FLEDGE_BUILD {

FirstNonFinite::FirstNonFinite() {
  require<GraphError>(detail::watch == nullptr, "FirstNonFinite",
                      "this thread has a watch already");
  detail::watch = this;
}

FirstNonFinite::~FirstNonFinite() { detail::watch = nullptr; }

void FirstNonFinite::look(std::string_view op, const Array& x, bool backward,
                          const std::vector<const Node*>& inputs) {
  if (finding_) return;
  for (Dim i = 0; i < x.size(); ++i)
    if (!isfinite(x.data()[i])) {
      finding_ = {op, backward, x.shape(), i, value_of(x.data()[i]), inputs};
      return;
    }
}

void detail::watch_node(const Node& node, const Array& value) {
  std::vector<const Node*> inputs;
  for (const Edge& edge : node.edges) inputs.push_back(edge.input.get());
  watch->look(node.op, value, false, inputs);
}

}  // namespace fledge::inline FLEDGE_BUILD
