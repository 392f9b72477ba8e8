// Computes the wrong gradients that known mistakes in a rule would give. The oracle takes the
// derivative of the function as the mistaken rule understands it.
//
// Used by gradcheck alone, after a gradient was found wrong. Next: diagnosis.h.
#pragma once

#include <functional>
#include <vector>

#include "engine/gradcheck/diagnosis.h"
#include "engine/gradcheck/gradcheck.h"

namespace fledge {

/// The mistakes that a rule for parameter p may hold, for a cotangent v of the shape of f():
///
///   - The sum over a broadcast axis is missing: only the first or the last position of the output
///     contributes. Tried for each axis of the output, and for its leading axes taken together. An
///     output of one number has no positions: there this mistake is a constant ratio.
///   - Another parameter q, square in its last two axes, is used where its transpose belongs. The
///     gradient is computed with qᵀ in place of q, so f must be linear in what q enters: in
///     tanh(A·B) the transpose also changes the slope of tanh. A factor that is no parameter, and
///     A·A, are not recognised.
///
/// `analytic` is the gradient that backward() gives. f, parameters, v and analytic must outlive the
/// result.
std::vector<Mistake> known_mistakes(const std::function<Tensor()>& f,
                                    const std::vector<NamedTensor>& parameters, std::size_t p,
                                    const Array& v, const std::vector<double>& analytic);

}  // namespace fledge
