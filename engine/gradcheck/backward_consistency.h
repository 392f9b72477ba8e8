// Jᵀ·v from backward(), computed in several ways that must agree.
//
// Used by gradcheck alone. Not here: whether Jᵀ·v is right; that takes an oracle.
// Key idea: Jᵀ·v may be right for one v by luck. Rules are linear in dy, and they add. So backward()
// runs twice, with v = 0, with v of other sizes, and beside another user of every parameter.
// Next: oracle.h.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "engine/gradcheck/gradcheck.h"

namespace fledge {

/// Random signs and magnitudes in [½, 3/2): never constant, never near zero.
Array random_cotangent(const Shape& shape, std::uint64_t seed);

/// Numbers by parameter, by element.
using Gradients = std::vector<std::vector<double>>;

/// Jᵀ·v by one backward pass over y, which keeps its graph; zeros where the pass does not arrive.
/// The parameters hold no gradient afterwards.
Gradients gradients_of(const Tensor& y, const std::vector<NamedTensor>& parameters, const Array& v);

/// Jᵀ·v, and the first repetition that gave another result.
struct BackwardConsistency {
  Gradients gradients;
  std::string problem;  // empty when all agree; else one sentence, and where it was found:
  std::size_t parameter = 0, element = 0;
  double found = 0, expected = 0;
};

/// Computes Jᵀ·v by backward() of f(); f is evaluated once or twice. Gradients that the parameters
/// had before are forgotten. `seed` draws the other users' cotangents.
BackwardConsistency check_backward(const std::function<Tensor()>& f,
                                   const std::vector<NamedTensor>& parameters, const Array& v,
                                   std::uint64_t seed);

}  // namespace fledge
