// What all optimisers share: their parameters, and the refusal of numbers that are not finite.
#pragma once

#include <vector>

#include "engine/errors.h"
#include "engine/tensor.h"

namespace fledge::inline FLEDGE_BUILD {

/// Forgets all gradients.
inline void zero_grad(const std::vector<Tensor>& parameters) {
  for (const Tensor& p : parameters) p.zero_grad();
}

/// Throws NumericError if any gradient holds an infinity or NaN, naming the parameter by its place:
/// a step then leaves every parameter as it was.
inline void require_finite_gradients(const char* who, const std::vector<Tensor>& parameters) {
  for (std::size_t p = 0; p < parameters.size(); ++p) {
    if (!parameters[p].has_grad()) continue;
    const Array& g = parameters[p].grad();
    for (Dim i = 0; i < g.size(); ++i)
      require<NumericError>(isfinite(g[i]), who, "the gradient of parameter ", p, " of shape ",
                            g.shape(), " is ", value_of(g[i]), " at element ", i,
                            "; no parameter was changed; a smaller rate or clipping may help");
  }
}

}  // namespace fledge::inline FLEDGE_BUILD
